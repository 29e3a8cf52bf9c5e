/**
 * Everything that an installation on an existing Kubernetes cluster consists of, in the order in which it is applied. The
 * certificates are not part of it: the process of the webhooks makes, publishes and renews them. Pure.
 */
import type { JsonObject } from "@flotilla/base";
import { VERSION } from "@flotilla/base";
import { installedSteps } from "./admission-steps.ts";
import { INSTALL_RECORD, INSTALLED_LABELS, WEBHOOKS_NAME } from "./install-names.ts";
import { planAccess, planNamespaces } from "./plan-access.ts";
import { planAdmission } from "./plan-admission.ts";
import { installedKinds, planDefinitions } from "./plan-definitions.ts";
import type { WorkloadProject } from "./plan-definitions.ts";
import { planApiServices, planPrograms, servicePort, storedVersionsOf } from "./plan-programs.ts";

export interface InstallOptions {
  namespace: string;
  /** Workloads whose kinds the hub stores as templates. */
  projects: readonly WorkloadProject[];
  image?: string | undefined;
  replicas: number;
  /** Where the webhooks are served, if not in the cluster. */
  address?: { host: string; port: number } | undefined;
  /** Whether the API server authenticates itself to aggregated servers; without it Clusters have no proxy. */
  isAggregated: boolean;
  proxyUsers: readonly string[];
}

export interface InstallPlan {
  namespaces: JsonObject[];
  definitions: JsonObject[];
  access: JsonObject[];
  programs: JsonObject[];
  /** From here on the API server depends on the process of the webhooks. */
  admission: JsonObject[];
  apiServices: JsonObject[];
  /** Last: says what was installed. */
  record: JsonObject;
}

/** Nothing of an installation is changed before it exists. */
const noTime = { now: () => 0 };

export function planInstall(options: InstallOptions): InstallPlan {
  const { namespace, projects, address, isAggregated } = options;
  const service = { namespace, name: WEBHOOKS_NAME, port: servicePort(options) };
  return {
    namespaces: planNamespaces(namespace),
    definitions: planDefinitions({ projects, service, isAggregated }) as unknown as JsonObject[],
    access: planAccess(options),
    programs: planPrograms(options),
    admission: planAdmission({
      kinds: installedKinds(projects),
      steps: installedSteps({ projects, allowNoExecuteTaintPolicy: false, clock: noTime }),
      service,
      moreVersions: isAggregated ? storedVersionsOf : () => [],
    }),
    apiServices: isAggregated ? planApiServices({ namespace, address }) : [],
    record: {
      apiVersion: "v1",
      kind: "ConfigMap",
      metadata: { name: INSTALL_RECORD, namespace, labels: { ...INSTALLED_LABELS } },
      data: { version: VERSION, options: JSON.stringify(options) },
    },
  };
}

/** In the order of application. */
export const manifestsOfInstall = (plan: InstallPlan): JsonObject[] => [
  ...plan.namespaces,
  ...plan.definitions,
  ...plan.access,
  ...plan.programs,
  ...plan.admission,
  ...plan.apiServices,
  plan.record,
];
