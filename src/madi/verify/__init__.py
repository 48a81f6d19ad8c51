"""Problems with known answers: closed forms and published reference digits (`madi verify`)."""
