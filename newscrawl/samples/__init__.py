"""Three small news sites of our own making: the demo and the end-to-end fixture."""
