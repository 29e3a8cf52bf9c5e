/** ResourceDistribution: everything that Flotilla knows about the kind. */
import { exampleOf } from "@flotilla/kubernetes";
import { DEFAULT_GATES } from "../api/feature-gates.ts";
import { defineKruiseKind } from "../api/kruise-definition.ts";
import { createResourceDistributionController } from "./resourcedistribution-controller.ts";
import { resourceDistributionInterpreter } from "./resourcedistribution-interpreter.ts";
import { ResourceDistribution } from "./resourcedistribution-kind.ts";
import { resourceDistributionRules } from "./resourcedistribution-rules.ts";

export const resourceDistribution = defineKruiseKind({
  kind: ResourceDistribution,
  example: exampleOf(ResourceDistribution, {
    spec: {
      resource: { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "settings" }, data: { mode: "fast" } },
      targets: { includedNamespaces: { list: [{ name: "default" }] } },
    },
  }),
  rules: resourceDistributionRules,
  interpreter: resourceDistributionInterpreter,
  controllers: (deps) =>
    (deps.gates ?? DEFAULT_GATES).isOn("ResourceDistributionGate") ? [createResourceDistributionController(deps)] : [],
});
