/**
 * Determines which users of the hub may act on a member through the cluster proxy: those whose hub roles allow
 * `clusters/proxy`. Two Works propagate a ClusterRole for the impersonator service account to the member, as Karmada's
 * unified authentication does. Pure.
 */
import type { Cluster, Work } from "@flotilla/karmada";
import type { ClusterRole, ClusterRoleBinding } from "@flotilla/kubernetes";
import type { DeepReadonly, JsonObject } from "@flotilla/base";
import {
  executionNamespace,
  serviceAccountName,
  workName,
  IMPERSONATOR,
  SYSTEM_LABELS,
  WORK_FINALIZER,
  WORK_NAME,
  WORK_NAMESPACE,
} from "@flotilla/karmada";
import { RBAC_GROUP } from "@flotilla/kubernetes";
type Subject = NonNullable<DeepReadonly<ClusterRoleBinding>["subjects"]>[number];
type Rule = NonNullable<DeepReadonly<ClusterRole>["rules"]>[number];

const RESOURCES: Readonly<Record<string, string>> = {
  User: "users",
  ServiceAccount: "serviceaccounts",
  Group: "groups",
};

/** Whether a rule allows the proxy of a cluster, or of all clusters through the search proxy. */
function opensProxy({ apiGroups = [], resources = [], resourceNames = [] }: Rule, cluster: string): boolean {
  const has = (list: readonly string[], wanted: string): boolean => list.includes("*") || list.includes(wanted);
  if (
    has(apiGroups, "cluster.karmada.io") &&
    has(resources, "clusters/proxy") &&
    (resourceNames.length === 0 || resourceNames.includes(cluster))
  )
    return true;
  return has(apiGroups, "search.karmada.io") && has(resources, "proxying/proxy");
}

/** The rules that let the impersonator impersonate exactly these subjects. */
export function planImpersonationRules(
  cluster: string,
  roles: readonly DeepReadonly<ClusterRole>[],
  bindings: readonly DeepReadonly<ClusterRoleBinding>[],
): JsonObject[] {
  const opening = new Set(
    roles
      .filter(({ rules = [] }) => rules.some((rule) => opensProxy(rule, cluster)))
      .map(({ metadata }) => metadata.name),
  );
  const subjects: Subject[] = bindings
    .filter(({ roleRef }) => roleRef.kind === "ClusterRole" && opening.has(roleRef.name))
    .flatMap(({ subjects: named = [] }) => [...named]);
  return Object.entries(RESOURCES).flatMap(([kind, resource]) => {
    const names = [...new Set(subjects.filter((subject) => subject.kind === kind).map(({ name }) => name))].sort();
    return names.length === 0
      ? []
      : [{ verbs: ["impersonate"], apiGroups: [""], resources: [resource], resourceNames: names }];
  });
}

/** The Works of one member; none when the hub has no impersonator account there. */
export function planImpersonationWorks(
  { metadata: { name, uid = "" }, spec }: DeepReadonly<Cluster>,
  rules: readonly JsonObject[],
): Work[] {
  if (!spec.impersonatorSecretRef) return [];
  const metadata = { name: IMPERSONATOR, labels: { ...SYSTEM_LABELS } };
  const manifests: (JsonObject & { kind: string })[] = [
    { apiVersion: `${RBAC_GROUP}/v1`, kind: "ClusterRole", metadata, rules: [...rules] },
    {
      apiVersion: `${RBAC_GROUP}/v1`,
      kind: "ClusterRoleBinding",
      metadata,
      roleRef: { apiGroup: RBAC_GROUP, kind: "ClusterRole", name: IMPERSONATOR },
      subjects: [
        {
          kind: "ServiceAccount",
          namespace: spec.impersonatorSecretRef.namespace,
          name: serviceAccountName("impersonator"),
        },
      ],
    },
  ];
  const namespace = executionNamespace(name);
  return manifests.map((manifest) => {
    const work = workName(manifest.kind, IMPERSONATOR, "");
    const annotations = { [WORK_NAMESPACE]: namespace, [WORK_NAME]: work };
    return {
      apiVersion: "work.karmada.io/v1alpha1",
      kind: "Work",
      metadata: {
        name: work,
        namespace,
        labels: { ...SYSTEM_LABELS },
        finalizers: [WORK_FINALIZER],
        ownerReferences: [
          {
            apiVersion: "cluster.karmada.io/v1alpha1",
            kind: "Cluster",
            name,
            uid,
            controller: true,
            blockOwnerDeletion: true,
          },
        ],
      },
      spec: { workload: { manifests: [{ ...manifest, metadata: { ...metadata, annotations } }] } },
    };
  });
}
