"""Thought-Retriever: a memory that grows with use.

Each answered question leaves a thought with its sources; later questions find pages and thoughts
together. What is kept was checked against its evidence, says something new, and can be followed
down to the pages it rests on.
"""
