;; Built for a later minor version of the contract, which in 0.x breaks with this one.
(component
  ;;include memory
  ;;include trap
  ;;include tools@0.2.0
)
