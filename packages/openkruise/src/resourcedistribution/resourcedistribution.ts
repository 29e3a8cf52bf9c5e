/** ResourceDistribution: members run it; the hub interprets it and serves it if its CRD is installed. */
import { defineKruiseKind } from "../api/kruise-definition.ts";
import { resourceDistributionInterpreter } from "./resourcedistribution-interpreter.ts";

export const resourceDistribution = defineKruiseKind({
  kind: { group: "apps.kruise.io", kind: "ResourceDistribution" },
  interpreter: resourceDistributionInterpreter,
});
