;; A core module: the eight bytes that every module begins with, and nothing else.
(module)
