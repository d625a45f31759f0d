"""Turn news pages into clean articles."""
