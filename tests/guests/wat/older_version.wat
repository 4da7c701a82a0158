;; Built for a version of the contract that no host has any more.
(component
  ;;include memory
  ;;include trap
  ;;include tools@0.0.9
)
