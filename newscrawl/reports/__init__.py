"""Reports of crawls: a static site, drift against earlier crawls, alarms."""
