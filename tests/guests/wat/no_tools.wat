;; A component of another world: it exports nothing.
(component)
