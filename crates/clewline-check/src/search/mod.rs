//! Searches: checkers for every specification.
