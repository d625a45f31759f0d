"""Research: labelled corpora, training, evaluation, V-Wrapper, and the papers' variants of methods.

The rest of the package does not import it; the commands ``train`` and ``evaluate`` are in
:mod:`newscrawl.lab.commands`.
"""
