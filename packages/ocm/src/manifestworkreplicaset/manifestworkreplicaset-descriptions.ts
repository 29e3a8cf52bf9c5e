import { conditionsDescriptions, descriptionsAt, type FieldDescriptions } from "@flotilla/apimachinery";
import { manifestWorkSpecDescriptions } from "../manifests/manifest-work-descriptions.ts";

const DEADLINE = "How long a cluster may take, or keep failing, before it counts as failed: 10m, or None.";

/** What the progressive strategies have. */
const stepDescriptions = (percentageOf: string): FieldDescriptions => ({
  minSuccessTime: "How long a cluster must stay in the desired state before it counts as done.",
  progressDeadline: DEADLINE,
  maxFailures: `With more failed clusters than this no further clusters are started: a number, or a percentage of ${percentageOf}.`,
  mandatoryDecisionGroups:
    "Decision groups of the Placement that are rolled out first, one after the other and without any failure.",
  "mandatoryDecisionGroups[].groupName": "The name of the group; all groups of that name.",
  "mandatoryDecisionGroups[].groupIndex": "The position of the group, from 0, if no name is given.",
});

const summaryDescriptions: FieldDescriptions = {
  total: "The number of works that exist.",
  desiredTotal: "The number of works when the rollout is complete.",
  updated: "Works with the current template.",
  applied: "Works whose objects are applied.",
  available: "Works whose objects exist.",
  progressing: "Works whose workloads are being rolled out.",
  degraded: "Works whose workloads have failed.",
};

const STRATEGY = "spec.placementRefs[].rolloutStrategy";

export const manifestWorkReplicaSetDescriptions: FieldDescriptions = {
  "": "Creates one ManifestWork for every cluster that its Placements select.",
  spec: "The works, and where they are created.",
  ...descriptionsAt("spec.manifestWorkTemplate", manifestWorkSpecDescriptions),
  "spec.manifestWorkTemplate":
    "The spec of the ManifestWorks. Every cluster gets it unchanged: replicas are not divided.",
  "spec.placementRefs":
    "Placements of this namespace, each with its rollout strategy. A cluster that several of them select gets one work.",
  "spec.placementRefs[].name": "The name of the Placement; duplicates are ignored.",
  [STRATEGY]: "How a change of the template is rolled out; to all clusters at once by default.",
  [`${STRATEGY}.type`]:
    "All updates all clusters at once, Progressive a number of clusters at a time, ProgressivePerGroup one decision group after the other.",
  [`${STRATEGY}.all`]:
    "For the type All. The deadline only determines which clusters have failed; the rollout does not wait.",
  [`${STRATEGY}.all.progressDeadline`]: DEADLINE,
  [`${STRATEGY}.all.minSuccessTime`]: "Has no effect: all clusters are updated at once.",
  [`${STRATEGY}.all.maxFailures`]: "Has no effect: all clusters are updated at once.",
  [`${STRATEGY}.progressive`]: "For the type Progressive.",
  ...descriptionsAt(`${STRATEGY}.progressive`, stepDescriptions("all clusters")),
  [`${STRATEGY}.progressive.maxConcurrency`]:
    "How many clusters are updated at a time: a number, or a percentage of those outside the mandatory groups. All of them by default.",
  [`${STRATEGY}.progressivePerGroup`]: "For the type ProgressivePerGroup.",
  ...descriptionsAt(`${STRATEGY}.progressivePerGroup`, stepDescriptions("the clusters of the group")),
  "spec.cascadeDeletionPolicy":
    "Background: the set is deleted at once, and its works afterwards. Foreground: the set is deleted after its works.",

  status: "The state of the rollout.",
  "status.conditions": "PlacementVerified, PlacementRolledOut and ManifestworkApplied.",
  ...descriptionsAt("status.conditions", conditionsDescriptions),
  "status.summary": "The number of works, by state.",
  ...descriptionsAt("status.summary", summaryDescriptions),
  "status.placementSummary": "The same for each Placement.",
  "status.placementSummary[].name": "The name of the Placement.",
  "status.placementSummary[].availableDecisionGroups":
    "The number of its decision groups, and how many of its clusters have a work.",
  "status.placementSummary[].summary": "The number of works of the Placement, by state.",
  ...descriptionsAt("status.placementSummary[].summary", summaryDescriptions),
};
