/** OpenKruise's NodeImage: the images that a node pulls in advance, and how far it is. */
import { AGE } from "@flotilla/apimachinery";
import type { Column } from "@flotilla/apimachinery";
import type { NodeImage as NodeImageFacts } from "@flotilla/apimachinery/facts/apps-kruise-v1beta1.ts";
import { count } from "../api/columns.ts";
import { sameFields } from "../api/conversion.ts";
import { kruiseKind } from "../api/kruise-kind.ts";
import { nodeImageDescriptions } from "./nodeimage-descriptions.ts";

export type NodeImage = NodeImageFacts;

const columns: Column[] = [
  count("DESIRED", ".status.desired"),
  count("PULLING", ".status.pulling"),
  count("SUCCEED", ".status.succeeded"),
  count("FAILED", ".status.failed"),
  AGE,
];

export const NodeImage = kruiseKind<NodeImage>({
  kind: "NodeImage",
  plural: "nodeimages",
  scope: "Cluster",
  columns,
  conversion: sameFields,
  descriptions: nodeImageDescriptions,
});
