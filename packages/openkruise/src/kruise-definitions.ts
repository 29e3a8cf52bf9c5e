/** OpenKruise: its kinds, and its features that have no kind. A new kind is one folder and one line here. */
import { advancedCronJob } from "./advancedcronjob/advancedcronjob.ts";
import type { KruiseDefinition, KruiseFeature } from "./api/kruise-definition.ts";
import { batchRelease } from "./batchrelease/batchrelease.ts";
import { broadcastJob } from "./broadcastjob/broadcastjob.ts";
import { cloneSet } from "./cloneset/cloneset.ts";
import { containerRecreateRequest } from "./containerrecreaterequest/containerrecreaterequest.ts";
import { daemonSet } from "./daemonset/daemonset.ts";
import { deletionProtection } from "./deletion-protection/deletion-protection.ts";
import { enhancedLiveness } from "./enhanced-liveness/enhanced-liveness.ts";
import { ephemeralJob } from "./ephemeraljob/ephemeraljob.ts";
import { imageListPullJob } from "./imagelistpulljob/imagelistpulljob.ts";
import { imagePreDownload } from "./image-predownload/image-predownload.ts";
import { imagePullJob } from "./imagepulljob/imagepulljob.ts";
import { launchPriority } from "./launch-priority/launch-priority.ts";
import { nodeImage } from "./nodeimage/nodeimage.ts";
import { nodePodProbe } from "./nodepodprobe/nodepodprobe.ts";
import { persistentPodState } from "./persistentpodstate/persistentpodstate.ts";
import { podProbeMarker } from "./podprobemarker/podprobemarker.ts";
import { podReadiness } from "./pod-readiness/pod-readiness.ts";
import { podUnavailableBudget } from "./podunavailablebudget/podunavailablebudget.ts";
import { resourceDistribution } from "./resourcedistribution/resourcedistribution.ts";
import { kruiseRollout } from "./rollout/rollout.ts";
import { rolloutHistory } from "./rollouthistory/rollouthistory.ts";
import { sidecarTerminator } from "./sidecar-terminator/sidecar-terminator.ts";
import { sidecarSet } from "./sidecarset/sidecarset.ts";
import { statefulSet } from "./statefulset/statefulset.ts";
import { trafficRouting } from "./trafficrouting/trafficrouting.ts";
import { unitedDeployment } from "./uniteddeployment/uniteddeployment.ts";
import { workloadSpread } from "./workloadspread/workloadspread.ts";

/** Pods pass the webhooks in this order, which is upstream's. */
export const kruiseParts: readonly (KruiseDefinition | KruiseFeature)[] = [
  podReadiness,
  workloadSpread,
  cloneSet,
  statefulSet,
  daemonSet,
  sidecarSet,
  launchPriority,
  unitedDeployment,
  broadcastJob,
  podUnavailableBudget,
  deletionProtection,
  advancedCronJob,
  containerRecreateRequest,
  ephemeralJob,
  imageListPullJob,
  imagePullJob,
  imagePreDownload,
  nodeImage,
  persistentPodState,
  enhancedLiveness,
  podProbeMarker,
  nodePodProbe,
  resourceDistribution,
  sidecarTerminator,
  kruiseRollout,
  batchRelease,
  rolloutHistory,
  trafficRouting,
];

export const kruiseDefinitions: readonly KruiseDefinition[] = kruiseParts.filter(
  (part): part is KruiseDefinition => "kind" in part,
);
