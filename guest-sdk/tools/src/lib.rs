//! The standard coding tools as one component.
