"""The papers' body algorithms: candidate generators, each callable as published."""
