import { conditionsDescriptions, descriptionsAt, type FieldDescriptions } from "@flotilla/apimachinery";
import { manifestWorkSpecDescriptions } from "../manifests/manifest-work-descriptions.ts";

const MANIFESTS = "status.resourceStatus.manifests[]";

export const manifestWorkDescriptions: FieldDescriptions = {
  "": "Objects for one cluster, in the namespace of that cluster, and their status there.",
  spec: "The objects, and how they are applied.",
  ...descriptionsAt("spec", manifestWorkSpecDescriptions),
  status: "What the agent reports.",
  "status.conditions": "Applied, Available and those of condition rules, over all objects.",
  ...descriptionsAt("status.conditions", conditionsDescriptions),
  "status.resourceStatus": "The same for each object, with the requested values.",
  "status.resourceStatus.manifests": "One entry for each object.",
  [`${MANIFESTS}.resourceMeta`]: "The object, and its place in the list of manifests.",
  [`${MANIFESTS}.conditions`]: "The conditions of the object.",
  ...descriptionsAt(`${MANIFESTS}.conditions`, conditionsDescriptions),
  [`${MANIFESTS}.statusFeedback`]: "The values of the feedback rules.",
};
