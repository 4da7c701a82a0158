;; Asks for the network.
(component
  (import "wasi:sockets/instance-network@0.2.0" (instance
    (export "network" (type $network (sub resource)))
    (export "instance-network" (func (result (own $network))))))
  ;;include memory
  ;;include trap
  ;;include tools@0.1.0
)
