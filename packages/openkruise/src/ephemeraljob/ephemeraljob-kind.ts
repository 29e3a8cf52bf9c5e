/** OpenKruise's EphemeralJob: runs ephemeral containers in running pods. */
import { AGE } from "@flotilla/apimachinery";
import type { EphemeralJob as EphemeralJobFacts } from "@flotilla/apimachinery/facts/apps-kruise-v1alpha1.ts";
import type { DeepReadonly } from "@flotilla/base";
import { count } from "../api/columns.ts";
import { kruiseKind } from "../api/kruise-kind.ts";
import { ephemeralJobDescriptions } from "./ephemeraljob-descriptions.ts";

export type EphemeralJob = EphemeralJobFacts;
export type ReadonlyEphemeralJob = DeepReadonly<EphemeralJob>;

export const EphemeralJob = kruiseKind<EphemeralJob>({
  kind: "EphemeralJob",
  plural: "ephemeraljobs",
  shortNames: ["ejob"],
  columns: [
    { name: "STATUS", type: "string", jsonPath: ".status.phase" },
    count("MATCH", ".status.match"),
    count("SUCCEED", ".status.succeeded"),
    count("FAILED", ".status.failed"),
    count("RUNNING", ".status.running"),
    count("WAITING", ".status.waiting"),
    AGE,
  ],
  descriptions: ephemeralJobDescriptions,
});
