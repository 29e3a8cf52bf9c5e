/** The feature gates of OpenKruise that its webhooks depend on. Whoever knows all gates hands in all of them. */
export type KruiseGate =
  | "PodUnavailableBudgetDeleteGate"
  | "PodUnavailableBudgetUpdateGate"
  | "SidecarSetPatchPodMetadataDefaultsAllowed"
  | "StatefulSetAutoDeletePVC"
  | "StatefulSetAutoResizePVCGate"
  | "TemplateNoDefaults";

export interface KruiseGates {
  isOn(gate: KruiseGate): boolean;
}

const ON: ReadonlySet<KruiseGate> = new Set<KruiseGate>(["PodUnavailableBudgetDeleteGate", "StatefulSetAutoDeletePVC"]);

/** As release 1.9.1 ships them. */
export const DEFAULT_KRUISE_GATES: KruiseGates = { isOn: (gate) => ON.has(gate) };
