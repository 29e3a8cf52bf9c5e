/** TrafficRouting: everything that Flotilla knows about the kind. */
import { exampleOf } from "@flotilla/kubernetes";
import { defineKruiseKind } from "../api/kruise-definition.ts";
import { TrafficRouting } from "./trafficrouting-kind.ts";

export const trafficRouting = defineKruiseKind({
  kind: TrafficRouting,
  example: exampleOf(TrafficRouting, {
    spec: { objectRef: [{ service: "web", ingress: { name: "web" } }], strategy: { weight: 20 } },
  }),
});
