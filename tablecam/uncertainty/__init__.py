"""Answers to questions that hang on measured lengths: margins, standard deviations, draws."""
