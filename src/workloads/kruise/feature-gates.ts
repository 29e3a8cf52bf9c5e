/**
 * OpenKruise's feature gates, with the defaults of 1.9.1.
 *
 * `WorkloadDependencies.gates` carries them to the controllers; a planner that depends on one is given the gates as an
 * argument. A gate that is not listed here is refused, rather than accepted and ignored.
 */
import { FlotillaError } from "../../base/index.ts";

const DEFAULTS = {
  PodWebhook: true,
  KruiseDaemon: true,
  DaemonWatchingPod: true,
  CloneSetShortHash: false,
  KruisePodReadinessGate: false,
  PreDownloadImageForInPlaceUpdate: false,
  CloneSetPartitionRollback: false,
  ResourcesDeletionProtection: false,
  WorkloadSpread: true,
  PodUnavailableBudgetDeleteGate: true,
  PodUnavailableBudgetUpdateGate: false,
  TemplateNoDefaults: false,
  InPlaceUpdateEnvFromMetadata: true,
  StatefulSetAutoDeletePVC: true,
  SidecarSetPatchPodMetadataDefaultsAllowed: false,
  SidecarTerminator: false,
  PodProbeMarkerGate: true,
  PreDownloadImageForDaemonSetUpdate: false,
  CloneSetEventHandlerOptimization: false,
  PreparingUpdateAsUpdate: false,
  ImagePullJobGate: false,
  ResourceDistributionGate: false,
  DeletionProtectionForCRDCascadingGate: false,
  EnhancedLivenessProbe: false,
  RecreatePodWhenChangeVCTInCloneSetGate: false,
  StatefulSetStartOrdinal: false,
  PodIndexLabel: true,
  EnableExternalCerts: false,
  StatefulSetAutoResizePVCGate: false,
  ForceDeleteTimeoutExpectationGate: false,
  InPlaceWorkloadVerticalScaling: false,
  EnablePodProbeMarkerOnServerless: false,
  EnableSortSidecarContainerByName: false,
  InPlacePodVerticalScaling: false,
} as const satisfies Readonly<Record<string, boolean>>;

export type FeatureGate = keyof typeof DEFAULTS;

export interface FeatureGates {
  isOn(gate: FeatureGate): boolean;
}

/** Gates that make no sense without another one. */
const NEEDS: readonly [needed: FeatureGate, gates: readonly FeatureGate[]][] = [
  ["PodWebhook", ["KruisePodReadinessGate", "PodUnavailableBudgetDeleteGate", "PodUnavailableBudgetUpdateGate", "WorkloadSpread", "SidecarSetPatchPodMetadataDefaultsAllowed", "EnhancedLivenessProbe", "EnablePodProbeMarkerOnServerless"]],
  ["KruiseDaemon", ["PreDownloadImageForInPlaceUpdate", "DaemonWatchingPod", "InPlaceUpdateEnvFromMetadata", "PreDownloadImageForDaemonSetUpdate", "PodProbeMarkerGate", "SidecarTerminator", "ImagePullJobGate", "EnhancedLivenessProbe"]],
  ["ResourcesDeletionProtection", ["DeletionProtectionForCRDCascadingGate"]],
];

/** Throws for a gate that OpenKruise 1.9.1 does not have. */
export function createFeatureGates(changes: Readonly<Record<string, boolean>> = {}): FeatureGates {
  const gates = new Map<string, boolean>(Object.entries(DEFAULTS));
  for (const [gate, isOn] of Object.entries(changes)) {
    if (!gates.has(gate)) throw new FlotillaError("UnknownFeatureGate", `reading the feature gates of OpenKruise: ${gate} is not a gate of release 1.9.1; known gates: ${[...gates.keys()].join(", ")}`);
    gates.set(gate, isOn);
  }
  for (const [needed, dependent] of NEEDS) if (!gates.get(needed)) for (const gate of dependent) gates.set(gate, false);
  if (gates.get("PreDownloadImageForInPlaceUpdate") || gates.get("PreDownloadImageForDaemonSetUpdate")) gates.set("ImagePullJobGate", true);
  return { isOn: (gate) => gates.get(gate) ?? false };
}

/** Everything as OpenKruise ships it. */
export const DEFAULT_GATES: FeatureGates = createFeatureGates();
