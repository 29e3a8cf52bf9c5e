/**
 * NodeRestriction: what the kubelet of a node may write. It writes its own Node, Lease, CSINode and ResourceSlices, the
 * status of pods and claims, and creates only mirror pods, certificate requests and tokens for its own pods.
 *
 * The Node authorizer (`access/node-authorizer.ts`) decides without the content of a write; this step checks the content.
 */
import { builtInKinds, notFound, parseCertificateRequest, quoteText, refusal } from "@flotilla/apimachinery";
import type { AdmissionStep, ClusterReader, KubernetesObject, Review } from "@flotilla/apimachinery";
import type { ResourceSlice } from "@flotilla/apimachinery/facts/resource-v1.ts";
import {
  CSIDriver,
  Node,
  PersistentVolume,
  PersistentVolumeClaim,
  Pod,
  usedApiObjects,
  BETA_ARCH_LABEL,
  BETA_INSTANCE_TYPE_LABEL,
  BETA_OS_LABEL,
  BETA_REGION_LABEL,
  BETA_ZONE_LABEL,
  ARCH_LABEL,
  MIRROR_POD_ANNOTATION,
  HOSTNAME_LABEL,
  KUBELET_CLIENT_SIGNER,
  OS_LABEL,
  INSTANCE_TYPE_LABEL,
  REGION_LABEL,
  ZONE_LABEL,
} from "@flotilla/kubernetes";
import type { CertificateSigningRequest, TokenRequest } from "@flotilla/kubernetes";
import { equalJson } from "@flotilla/base";
import type { DeepReadonly } from "@flotilla/base";
import { nodeOf } from "../access/node-identity.ts";
import type { UserInfo } from "../request/user-info.ts";

const NODE_LEASES = "kube-node-lease";
const KUBELET_SIGNERS = new Set(["kubernetes.io/kubelet-serving", KUBELET_CLIENT_SIGNER]);

type Check = (node: string, review: Review<KubernetesObject>) => void;

/** By group and kind. */
const CHECKS: Readonly<Record<string, Check>> = {
  "/Pod": (node, review) => checkPod(node, review as Review<Pod>),
  "/Node": checkNode,
  "/PersistentVolumeClaim": checkClaim,
  "coordination.k8s.io/Lease": (node, review) => {
    if (review.namespace !== NODE_LEASES)
      throw refusal(review, `can only access leases in the "${NODE_LEASES}" system namespace`);
    checkOwnName(node, review, "node lease");
  },
  "storage.k8s.io/CSINode": (node, review) => checkOwnName(node, review, "CSINode"),
  "resource.k8s.io/ResourceSlice": (node, review) => {
    const { operation, object } = review as Review<ResourceSlice & KubernetesObject>;
    if (operation !== "UPDATE" && object.spec.nodeName !== node)
      throw refusal(
        review,
        `can only ${operation.toLowerCase()} ResourceSlice with the same NodeName as the requesting node`,
      );
  },
  "certificates.k8s.io/CertificateSigningRequest": (node, review) =>
    checkCertificateRequest(node, review as Review<CertificateSigningRequest>),
};

export const nodeRestriction: AdmissionStep = {
  name: "NodeRestriction",
  for: builtInKinds(...Object.keys(CHECKS)),
  on: ["CREATE", "UPDATE", "DELETE"],
  matches: ({ user, byController }) => !byController && nodeOf(user) !== undefined,
  // Before validation: a node does not receive the validation errors of an object that it may not write.
  complete(review) {
    checkWrite(review);
    return review.object;
  },
  check(review) {
    if (review.operation === "DELETE") checkWrite(review);
  },
};

function checkWrite(review: Review<KubernetesObject>): void {
  const { kind, user } = review;
  const node = nodeOf(user);
  if (!node) throw refusal(review, `could not determine node from user ${quoteText(user.name)}`);
  CHECKS[`${kind.group}/${kind.kind}`]?.(node, review);
}

function checkOwnName(node: string, review: Review<KubernetesObject>, what: string): void {
  if ((review.name ?? review.object.metadata.name) !== node)
    throw refusal(review, `can only access ${what} with the same name as the requesting node`);
}

function checkPod(node: string, review: Review<Pod>): void {
  const { operation, subresource, object, oldObject } = review;
  const quoted = quoteText(node);
  if (operation === "DELETE") {
    if (object.spec.nodeName !== node)
      throw refusal(
        review,
        subresource === "eviction"
          ? `node ${node} can only evict pods with spec.nodeName set to itself`
          : `node ${quoted} can only delete pods with spec.nodeName set to itself`,
      );
    return;
  }
  if (subresource === "status") {
    if (oldObject?.spec.nodeName !== node)
      throw refusal(review, `node ${quoted} can only update pod status for pods with spec.nodeName set to itself`);
    checkPodStatus(quoted, review, oldObject);
    return;
  }
  if (subresource !== undefined)
    throw refusal(
      review,
      `unexpected pod subresource ${quoteText(subresource)}, only 'status' and 'eviction' are allowed`,
    );
  if (operation === "UPDATE")
    throw refusal(review, `unexpected operation "UPDATE", node ${quoted} can only create and delete mirror pods`);
  checkMirrorPod(node, review);
}

function checkPodStatus(quoted: string, review: Review<Pod>, old: DeepReadonly<Pod>): void {
  const { object } = review;
  if (!equalJson(object.metadata.labels ?? {}, old.metadata.labels ?? {}))
    throw refusal(review, `node ${quoted} cannot update labels through pod status`);
  const { status = {} } = object;
  if (!equalJson(status.resourceClaimStatuses ?? [], old.status?.resourceClaimStatuses ?? []))
    throw refusal(review, `node ${quoted} cannot update resource claim statues`);
  if (!equalJson(status.extendedResourceClaimStatus ?? {}, old.status?.extendedResourceClaimStatus ?? {}))
    throw refusal(review, `node ${quoted} cannot update extended resource claim status`);
}

function checkMirrorPod(node: string, review: Review<Pod>): void {
  const { object: pod, read } = review;
  const quoted = quoteText(node);
  const { annotations = {}, ownerReferences: owners = [] } = pod.metadata;
  if (!Object.hasOwn(annotations, MIRROR_POD_ANNOTATION))
    throw refusal(
      review,
      `pod does not have "${MIRROR_POD_ANNOTATION}" annotation, node ${quoted} can only create mirror pods`,
    );
  if (pod.spec.nodeName !== node)
    throw refusal(review, `node ${quoted} can only create pods with spec.nodeName set to itself`);
  const [owner, ...others] = owners;
  if (others.length > 0)
    throw refusal(review, `node ${quoted} can only create pods with a single owner reference set to itself`);
  if (owner?.apiVersion !== "v1" || owner.kind !== "Node" || owner.name !== node)
    throw refusal(review, `node ${quoted} can only create pods with an owner reference set to itself`);
  if (!owner.controller)
    throw refusal(review, `node ${quoted} can only create pods with a controller owner reference set to itself`);
  if (owner.blockOwnerDeletion)
    throw refusal(review, `node ${quoted} must not set blockOwnerDeletion on an owner reference`);
  const { uid = "" } = read.get(Node, undefined, node)?.metadata ?? {};
  if (uid === "") throw notFound({ group: "", resource: "node" }, node);
  if (owner.uid !== uid) throw refusal(review, `node ${node} UID mismatch: expected ${owner.uid} got ${uid}`);
  const used = usedApiObjects(pod);
  if (used !== undefined) throw refusal(review, `node ${quoted} can not create pods that reference ${used}`);
}

function checkClaim(node: string, review: Review<PersistentVolumeClaim>): void {
  const { operation, subresource, object, oldObject } = review;
  if (subresource !== "status" || operation !== "UPDATE" || !oldObject)
    throw refusal(review, "may only update PVC status");
  if (!equalJson(withoutCapacity(object), withoutCapacity(oldObject)))
    throw refusal(
      review,
      `node ${quoteText(node)} is not allowed to update fields other than status.quantity and status.conditions`,
    );
}

function withoutCapacity(claim: DeepReadonly<PersistentVolumeClaim>): unknown {
  const { resourceVersion: _r, managedFields: _m, ...metadata } = claim.metadata;
  const {
    capacity: _c,
    conditions: _o,
    allocatedResources: _a,
    allocatedResourceStatuses: _s,
    ...status
  } = claim.status ?? {};
  return { ...claim, metadata, status };
}

function checkNode(node: string, review: Review<Node>): void {
  const { operation, object, oldObject } = review;
  const quoted = quoteText(node);
  const name = review.name ?? object.metadata.name ?? "";
  if (name !== node) throw refusal(review, `node ${quoted} is not allowed to modify node ${quoteText(name)}`);
  if (operation === "CREATE") {
    if (object.spec?.configSource)
      throw refusal(review, `node ${quoted} is not allowed to create pods with a non-nil configSource`);
    const labels = forbiddenLabels(object.metadata.labels, undefined);
    if (labels.length > 0)
      throw refusal(review, `node ${quoted} is not allowed to set the following labels: ${labels.join(", ")}`);
  }
  if (operation !== "UPDATE" || !oldObject) return;
  const { spec = {}, metadata } = object;
  if (spec.configSource && !equalJson(spec.configSource, oldObject.spec?.configSource))
    throw refusal(review, `node ${quoted} is not allowed to update configSource to a new non-nil configSource`);
  if (!equalJson(spec.taints ?? [], oldObject.spec?.taints ?? []))
    throw refusal(review, `node ${quoted} is not allowed to modify taints`);
  if (!equalJson(metadata.ownerReferences ?? [], oldObject.metadata.ownerReferences ?? []))
    throw refusal(review, `node ${quoted} is not allowed to modify ownerReferences`);
  const labels = forbiddenLabels(metadata.labels, oldObject.metadata.labels);
  if (labels.length > 0) throw refusal(review, `is not allowed to modify labels: ${labels.join(", ")}`);
}

type Labels = Readonly<Record<string, string>>;

const KUBELET_LABELS = new Set([
  HOSTNAME_LABEL,
  ZONE_LABEL,
  REGION_LABEL,
  BETA_ZONE_LABEL,
  BETA_REGION_LABEL,
  BETA_INSTANCE_TYPE_LABEL,
  INSTANCE_TYPE_LABEL,
  OS_LABEL,
  ARCH_LABEL,
  BETA_OS_LABEL,
  BETA_ARCH_LABEL,
]);
const isIn = (domain: string, parent: string): boolean => domain === parent || domain.endsWith(`.${parent}`);

/**
 * Changed labels that a node may not set: those of `node-restriction.kubernetes.io`, by which workloads select nodes that
 * they trust, and those of Kubernetes that are not for kubelets. Sorted. Pure.
 */
export function forbiddenLabels(labels: Labels = {}, before: Labels = {}): string[] {
  return [...new Set([...Object.keys(labels), ...Object.keys(before)])]
    .filter((key) => labels[key] !== before[key])
    .filter((key) => {
      const domain = key.includes("/") ? key.slice(0, key.indexOf("/")) : "";
      if (isIn(domain, "node-restriction.kubernetes.io")) return true;
      if (!isIn(domain, "kubernetes.io") && !isIn(domain, "k8s.io")) return false;
      return !KUBELET_LABELS.has(key) && !isIn(domain, "kubelet.kubernetes.io") && !isIn(domain, "node.kubernetes.io");
    })
    .sort();
}

function checkCertificateRequest(node: string, review: Review<CertificateSigningRequest>): void {
  if (review.operation !== "CREATE") return;
  const { signerName, request } = review.object.spec;
  if (!KUBELET_SIGNERS.has(signerName)) return;
  if (parseCertificateRequest(request).commonName !== `system:node:${node}`)
    throw refusal(review, `can only create a node CSR with CN=system:node:${node}`);
}

/** A node gets tokens only for pods that run on it, and for audiences that these pods use. Throws 403 otherwise. */
export function checkNodeToken(
  { user, namespace, account, read, mayRequest }: TokenQuestion,
  { audiences = [], boundObjectRef: bound }: DeepReadonly<NonNullable<TokenRequest["spec"]>>,
): void {
  const node = nodeOf(user);
  if (node === undefined) return;
  const refuse = (why: string): never => {
    throw refusal(
      {
        kind: { group: "", kind: "ServiceAccount", plural: "serviceaccounts", scope: "Namespaced", builtIn: true },
        object: { metadata: { name: account } },
      },
      why,
    );
  };
  if (node === "") refuse(`could not determine node from user ${quoteText(user.name)}`);
  if (bound?.apiVersion !== "v1" || bound.kind !== "Pod" || !bound.name)
    return refuse("node requested token not bound to a pod");
  if (!bound.uid) return refuse("node requested token with a pod binding without a uid");
  const pod = read.get(Pod, namespace, bound.name);
  if (!pod) throw notFound({ group: "", resource: "pod" }, bound.name);
  if (bound.uid !== pod.metadata.uid)
    refuse(
      `the UID in the bound object reference (${bound.uid}) does not match the UID in record. The object might have been deleted and then recreated`,
    );
  if (pod.spec.nodeName !== node) refuse("node requested token bound to a pod scheduled on a different node");
  if (audiences.length > 1) refuse("node may only request 0 or 1 audiences");
  const [audience = ""] = audiences;
  if (!usesAudience(read, pod, audience) && !mayRequest(audience))
    refuse(
      `audience ${quoteText(audience)} not found in pod spec volume, ${user.name} is not authorized to request tokens for this audience`,
    );
}

export interface TokenQuestion {
  readonly user: UserInfo;
  readonly namespace: string;
  readonly account: string;
  readonly read: ClusterReader;
  /** Whether a role allows the node to request tokens for the audience. */
  mayRequest(audience: string): boolean;
}

/** Whether a volume of the pod has a token of that audience, itself or by the CSI driver that mounts it. */
function usesAudience(read: ClusterReader, pod: DeepReadonly<Pod>, audience: string): boolean {
  const { name, namespace } = pod.metadata;
  return (pod.spec.volumes ?? []).some((volume) => {
    const tokens = volume.projected?.sources?.flatMap(({ serviceAccountToken }) => serviceAccountToken ?? []) ?? [];
    if (tokens.some((token) => (token.audience ?? "") === audience)) return true;
    const claim = volume.ephemeral ? `${name}-${volume.name}` : volume.persistentVolumeClaim?.claimName;
    const driver = claim === undefined ? volume.csi?.driver : driverOfClaim(read, namespace, claim);
    if (!driver) return false;
    const found = read.get(CSIDriver, undefined, driver);
    return found?.spec?.tokenRequests?.some((each) => each.audience === audience) ?? false;
  });
}

function driverOfClaim(read: ClusterReader, namespace: string | undefined, claim: string): string | undefined {
  const volume = read.get(PersistentVolumeClaim, namespace, claim)?.spec?.volumeName;
  return volume ? read.get(PersistentVolume, undefined, volume)?.spec?.csi?.driver : undefined;
}
