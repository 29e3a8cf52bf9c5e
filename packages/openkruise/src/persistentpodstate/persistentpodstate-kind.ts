/** OpenKruise's PersistentPodState: recreated pods of a StatefulSet return to where they ran. */
import type { PersistentPodState as PersistentPodStateFacts } from "@flotilla/apimachinery/facts/apps-kruise-v1alpha1.ts";
import { kruiseKind } from "../api/kruise-kind.ts";
import { persistentPodStateDescriptions } from "./persistentpodstate-descriptions.ts";

export type PersistentPodState = PersistentPodStateFacts;

export const PersistentPodState = kruiseKind<PersistentPodState>({
  kind: "PersistentPodState",
  plural: "persistentpodstates",
  columns: [],
  descriptions: persistentPodStateDescriptions,
});
