/** OpenKruise's SidecarSet: containers that are injected into new pods, and updated in running ones. */
import { AGE } from "@flotilla/apimachinery";
import type { Column } from "@flotilla/apimachinery";
import { count } from "../api/columns.ts";
import type { SidecarSet as SidecarSetType } from "./sidecarset-types.ts";
import { fromStorage, toStorage } from "./sidecarset-versions.ts";
import { kruiseKind } from "../api/kruise-kind.ts";
import { sidecarSetDescriptions } from "./sidecarset-descriptions.ts";

export type SidecarSet = SidecarSetType;

const columns: Column[] = [
  count("MATCHED", ".status.matchedPods"),
  count("UPDATED", ".status.updatedPods"),
  count("READY", ".status.readyPods"),
  AGE,
];

export const SidecarSet = kruiseKind<SidecarSet>({
  kind: "SidecarSet",
  plural: "sidecarsets",
  scope: "Cluster",
  columns,
  conversion: { toStorage, fromStorage },
  descriptions: sidecarSetDescriptions,
});
