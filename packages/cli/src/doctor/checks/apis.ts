/** Checks that members serve the kinds that are propagated to them. */
import { ClusterResourceBinding, ResourceBinding } from "@flotilla/karmada";
import { CustomResourceDefinition } from "@flotilla/kubernetes";
import { findCondition, parseApiVersion } from "@flotilla/apimachinery";
import type { Kind } from "@flotilla/apimachinery";
import type { Cluster } from "@flotilla/karmada";
import { copiesOf } from "@flotilla/flotilla";
import type { DeepReadonly } from "@flotilla/base";
import { defineCheck, listed } from "../doctor-check.ts";
import type { DoctorFinding } from "../doctor-check.ts";
import { membersIn } from "../context.ts";
import { counted } from "../../text-layout.ts";

export interface Use {
  apiVersion: string;
  kind: string;
  /** `shop/web` */
  object: string;
  clusters: readonly string[];
  /** The scheduler found that no member serves the kind. */
  isRefused: boolean;
}

export interface ApiFacts {
  clusters: readonly DeepReadonly<Cluster>[];
  uses: readonly Use[];
  /** The hub's CRDs, by `group/Kind`. */
  definitions: ReadonlyMap<string, string>;
}

const KRUISE = /^(?:apps|policy|rollouts)\.kruise\.io$/;
/** In a binding's condition: the number of members that do not serve its kind. */
const NO_API = "did not have the API resource";

export const apisCheck = defineCheck<ApiFacts>({
  name: "apis",
  summary: "members serve the kinds and API versions that are propagated to them",
  reports:
    "A problem for each kind that a workload needs and a member does not serve, because its " +
    "CustomResourceDefinition or OpenKruise is missing there. A warning if the member serves the kind only " +
    "in another API version; Flotilla converts OpenKruise's kinds itself. Also reports workloads that are " +
    "scheduled nowhere because no member serves their kind.",
  async gather(context) {
    const [clusters, definitions, bindings, clusterBindings] = await Promise.all([
      membersIn(context),
      context.lists.all(CustomResourceDefinition),
      context.lists.all(ResourceBinding),
      context.lists.all(ClusterResourceBinding as unknown as Kind<ResourceBinding>),
    ]);
    const uses = [...bindings, ...clusterBindings].map(({ spec, status }): Use => {
      const { apiVersion, kind, namespace, name } = spec.resource;
      const scheduled = findCondition(status?.conditions, "Scheduled");
      return {
        apiVersion,
        kind,
        object: namespace ? `${namespace}/${name}` : name,
        clusters: copiesOf(spec).map((target) => target.name),
        isRefused: scheduled?.status === "False" && scheduled.message.includes(NO_API),
      };
    });
    return {
      clusters,
      uses,
      definitions: new Map(
        definitions.map(({ metadata, spec }) => [`${spec.group}/${spec.names.kind}`, metadata.name]),
      ),
    };
  },
  judge({ clusters, uses, definitions }) {
    const served = new Map(clusters.map((cluster) => [cluster.metadata.name, servedBy(cluster)]));
    const missing = new Map<string, { use: Use; objects: string[]; clusters: Set<string>; isElsewhere: boolean }>();
    let looked = 0;
    for (const use of uses) {
      // A workload that is scheduled nowhere because of its kind lacks the kind on every candidate.
      const targets =
        use.isRefused && use.clusters.length === 0 ? clusters.map(({ metadata }) => metadata.name) : use.clusters;
      for (const cluster of targets) {
        const versions = served.get(cluster);
        if (!versions || versions.size === 0) continue;
        looked += 1;
        const { group, version } = parseApiVersion(use.apiVersion);
        const found = versions.get(`${group}/${use.kind}`);
        if (found?.has(version) || (found && KRUISE.test(group))) continue;
        const id = `${use.apiVersion}/${use.kind}/${found !== undefined}`;
        const entry = missing.get(id) ?? { use, objects: [], clusters: new Set(), isElsewhere: found !== undefined };
        if (!entry.objects.includes(use.object)) entry.objects.push(use.object);
        entry.clusters.add(cluster);
        missing.set(id, entry);
      }
    }
    const findings = [...missing.values()].map(({ use, objects, clusters: where, isElsewhere }): DoctorFinding => {
      const names = [...where];
      const about = `${use.kind} of ${use.apiVersion}`;
      if (isElsewhere)
        return {
          severity: "warning",
          about,
          seen:
            `${listed(names)} serve${names.length === 1 ? "s" : ""} it only in another version; ` +
            `${listed(objects)} need${objects.length === 1 ? "s" : ""} this one.`,
          fix: "Write the template in a version that all members serve, or upgrade the member.",
          commands: names.slice(0, 3).map((name) => `flotilla get crd --clusters ${name}`),
        };
      return {
        severity: "problem",
        about,
        seen: `${listed(names)} ${names.length === 1 ? "does" : "do"} not serve it; ${listed(objects)} ${objects.length === 1 ? "waits" : "wait"} for it.`,
        ...fixOf(use, names, definitions),
      };
    });
    const silent = clusters
      .filter(({ status }) => (status?.apiEnablements ?? []).length === 0)
      .map(({ metadata }) => metadata.name);
    return {
      seen:
        findings.length === 0
          ? `${counted(looked, "placement")} of ${counted(uses.length, "workload")} match what members serve`
          : `${counted(findings.length, "kind")} missing on members`,
      findings,
      unseen: silent.map((name) => `${name} has not reported which APIs it serves`),
    };
  },
});

/** More names would make the command unreadable; a policy without names selects all members. */
const MAX_NAMED = 10;

function fixOf(
  { apiVersion, kind }: Use,
  names: readonly string[],
  definitions: ApiFacts["definitions"],
): Pick<DoctorFinding, "fix" | "commands"> {
  const { group } = parseApiVersion(apiVersion);
  if (KRUISE.test(group))
    return {
      fix: "Install OpenKruise there; its chart contains the CRDs, controllers and webhooks.",
      commands: names
        .slice(0, 3)
        .map((name) => `helm install kruise openkruise/kruise --kubeconfig ${name}.kubeconfig`),
    };
  const definition = definitions.get(`${group}/${kind}`);
  if (definition === undefined)
    return {
      fix: `Install the CRD of ${kind} on these members; the hub has none to propagate.`,
      commands: names.slice(0, 3).map((name) => `kubectl --kubeconfig ${name}.kubeconfig apply -f CRD.yaml`),
    };
  const policy = {
    apiVersion: "policy.karmada.io/v1alpha1",
    kind: "ClusterPropagationPolicy",
    metadata: { name: definition },
    spec: {
      resourceSelectors: [
        { apiVersion: "apiextensions.k8s.io/v1", kind: "CustomResourceDefinition", name: definition },
      ],
      placement: names.length <= MAX_NAMED ? { clusterAffinity: { clusterNames: names } } : undefined,
    },
  };
  return {
    fix: "Propagate the hub's CRD there, with a ClusterPropagationPolicy.",
    commands: [`echo '${JSON.stringify(policy)}' | kubectl apply -f -`],
  };
}

/** Versions by `group/Kind`. */
function servedBy({ status }: DeepReadonly<Cluster>): Map<string, Set<string>> {
  const served = new Map<string, Set<string>>();
  for (const { groupVersion, resources = [] } of status?.apiEnablements ?? []) {
    const { group, version } = parseApiVersion(groupVersion);
    for (const { kind } of resources) {
      const versions = served.get(`${group}/${kind}`) ?? new Set();
      served.set(`${group}/${kind}`, versions.add(version));
    }
  }
  return served;
}
