/** NodeImage: everything that Flotilla knows about the kind. Its controller runs with that of ImagePullJob. */
import { exampleOf } from "@flotilla/kubernetes";
import { defineKruiseKind } from "../api/kruise-definition.ts";
import { NodeImage } from "./nodeimage-kind.ts";
import { nodeImageRules } from "./nodeimage-rules.ts";

export const nodeImage = defineKruiseKind({
  kind: NodeImage,
  example: exampleOf(NodeImage, { spec: {} }),
  rules: nodeImageRules,
});
