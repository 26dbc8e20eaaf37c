"""Answers that depend on measured lengths: margins, standard deviations, Monte Carlo draws."""
