/** RolloutHistory: everything that Flotilla knows about the kind. */
import { exampleOf } from "@flotilla/kubernetes";
import { defineKruiseKind } from "../api/kruise-definition.ts";
import { RolloutHistory } from "./rollouthistory-kind.ts";

export const rolloutHistory = defineKruiseKind({
  kind: RolloutHistory,
  example: exampleOf(RolloutHistory, {
    spec: { rollout: { name: "web", rolloutID: "1", data: {} } },
  }),
});
