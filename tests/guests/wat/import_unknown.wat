;; Asks for an interface that nobody has.
(component
  (import "example:weather/forecast@1.0.0" (instance
    (export "tomorrow" (func (result string)))))
  ;;include memory
  ;;include trap
  ;;include tools@0.1.0
)
