/** kruise-rollout's TrafficRouting: routes of a service that a Rollout switches on for the time of a release. */
import { AGE } from "@flotilla/apimachinery";
import type { TrafficRouting as TrafficRoutingFacts } from "@flotilla/apimachinery/facts/rollouts-kruise-v1alpha1.ts";
import { kruiseKind } from "../api/kruise-kind.ts";
import { trafficRoutingDescriptions } from "./trafficrouting-descriptions.ts";

export type TrafficRouting = TrafficRoutingFacts;

export const TrafficRouting = kruiseKind<TrafficRouting>({
  group: "rollouts.kruise.io",
  kind: "TrafficRouting",
  plural: "trafficroutings",
  columns: [
    { name: "STATUS", type: "string", jsonPath: ".status.phase" },
    { name: "MESSAGE", type: "string", jsonPath: ".status.message" },
    { ...AGE, name: "AGE" },
  ],
  descriptions: trafficRoutingDescriptions,
});
