/**
 * The Node authorizer: what the kubelet of a node may do. It reads the objects that the pods on its node use, and writes
 * its own Node, Lease and CSINode; NodeRestriction (`admission/node-restriction.ts`) checks what is in these writes.
 *
 * It is asked before the roles, and has an opinion only about nodes that may do something.
 */
import { bootstrapRbac } from "@flotilla/kubernetes";
import { ApiError, parseFieldSelector } from "@flotilla/apimachinery";
import type { PolicyRule } from "@flotilla/apimachinery/facts/rbac-v1.ts";
import type { DeepReadonly } from "@flotilla/base";
import type { ClusterRegistry } from "../clusters/clusters.ts";
import type { LogicalCluster } from "../clusters/logical-cluster.ts";
import type { ObjectStore } from "../clusters/objects.ts";
import { createClusterReader } from "../clusters/cluster-reader.ts";
import type { AccessedResource, AccessRequest } from "../request/authorize.ts";
import type { Cache } from "../store/cache.ts";
import type { Opinion } from "./opinion.ts";
import { nodeOf } from "./node-identity.ts";
import { createNodeRelations } from "./node-relations.ts";
import type { RelatedResource } from "./node-relations.ts";
import { allowsResource } from "./rbac-rules.ts";

export interface NodeAuthorizer {
  readonly name: "Node";
  ask(request: AccessRequest): Opinion;
  close(): void;
}

const ALLOW: Opinion = Object.freeze({ opinion: "allow", reason: "" });
const no = (reason = ""): Opinion => ({ opinion: "none", reason });
const NODE_LEASES = "kube-node-lease";

interface Question {
  readonly node: string;
  readonly verb: string;
  readonly resource: AccessedResource;
}

/** The related objects are looked up only where the answer depends on them. */
interface Known {
  isRelated(resource: RelatedResource): boolean;
  /** The node that an object of the whole cluster names. */
  nodeOfObject(group: string, plural: string): string | undefined;
}

export function createNodeAuthorizer(stored: {
  cache: Cache;
  clusters: ClusterRegistry;
  store: ObjectStore;
}): NodeAuthorizer {
  const relations = createNodeRelations(stored);

  const knownOf = (cluster: LogicalCluster, { node, resource: { namespace, name = "" } }: Question): Known => ({
    isRelated: (related) => relations.of(cluster).uses(node, related, namespace, name),
    nodeOfObject(group, plural) {
      const object = createClusterReader(stored.store, cluster).get({ group, plural }, undefined, name);
      return (object as { spec?: { nodeName?: string } } | undefined)?.spec?.nodeName;
    },
  });

  return {
    name: "Node",
    ask({ user, verb, cluster: clusterName, resource }) {
      const node = nodeOf(user);
      if (node === undefined) return no();
      if (node === "") return no(`unknown node for user ${JSON.stringify(user.name)}`);
      const cluster = stored.clusters.get(clusterName);
      if (!cluster || !resource) return no();
      const question = { node, verb, resource };
      return opinionOn(question, knownOf(cluster, question));
    },
    close: relations.close,
  };
}

function opinionOn(question: Question, known: Known): Opinion {
  const { verb, resource } = question;
  switch (`${resource.group}/${resource.resource}`) {
    case "/secrets":
      return onNamespaced(question, known, "secrets");
    case "/configmaps":
      return onNamespaced(question, known, "configmaps");
    case "/persistentvolumeclaims":
      return resource.subresource === "status"
        ? onStatus(question, known, "persistentvolumeclaims")
        : onGet(question, known, "persistentvolumeclaims");
    case "/persistentvolumes":
      return onGet(question, known, "persistentvolumes");
    case "resource.k8s.io/resourceclaims":
      return onGet(question, known, "resourceclaims");
    case "storage.k8s.io/volumeattachments":
      return verb === "get" && !resource.subresource
        ? onNodeName(question, known)
        : no(verb === "get" ? "cannot get subresource" : "can only get individual resources of this type");
    case "/serviceaccounts":
      return onServiceAccount(question, known);
    case "coordination.k8s.io/leases":
      return onLease(question);
    case "storage.k8s.io/csinodes":
      return onCsiNode(question);
    case "resource.k8s.io/resourceslices":
      return onResourceSlice(question, known);
    case "/nodes":
      return onNode(question);
    case "/pods":
      return onPod(question, known);
    default:
      return nodeRules().some((rule) => allowsResource(rule, verb, resource)) ? ALLOW : no();
  }
}

let rules: readonly DeepReadonly<PolicyRule>[] | undefined;

/** What nodes may do with the objects of a cluster that have no relation to a node. */
function nodeRules(): readonly DeepReadonly<PolicyRule>[] {
  return (rules ??=
    bootstrapRbac().flatMap((object) =>
      object.kind === "ClusterRole" && object.metadata.name === "system:node" && "rules" in object
        ? (object.rules ?? [])
        : [],
    ) ?? []);
}

function related({ node, resource: { name } }: Question, known: Known, resource: RelatedResource): Opinion {
  if (!name) return no("No Object name found");
  return known.isRelated(resource) ? ALLOW : unrelated(node);
}

const unrelated = (node: string): Opinion => no(`no relationship found between node '${node}' and this object`);

function onNamespaced(question: Question, known: Known, resource: RelatedResource): Opinion {
  const { verb } = question;
  if (verb !== "get" && verb !== "list" && verb !== "watch") return no("can only read resources of this type");
  if (question.resource.subresource) return no("cannot read subresource");
  if (!question.resource.namespace) return no("can only read namespaced object of this type");
  return related(question, known, resource);
}

function onGet(question: Question, known: Known, resource: RelatedResource): Opinion {
  if (question.verb !== "get") return no("can only get individual resources of this type");
  if (question.resource.subresource) return no("cannot get subresource");
  return related(question, known, resource);
}

function onStatus(question: Question, known: Known, resource: RelatedResource): Opinion {
  if (question.verb !== "update" && question.verb !== "patch") return no("can only get/update/patch this type");
  return related(question, known, resource);
}

function onNodeName({ node, resource: { group, resource, name } }: Question, known: Known): Opinion {
  if (!name) return no("No Object name found");
  return known.nodeOfObject(group, resource) === node ? ALLOW : unrelated(node);
}

function onServiceAccount(question: Question, known: Known): Opinion {
  const { verb, node } = question;
  const { subresource, name } = question.resource;
  if (verb === "get" && !subresource) return onNamespaced(question, known, "serviceaccounts");
  if (verb !== "create" || !name) return no("can only create tokens for individual service accounts");
  if (subresource !== "token") return no("can only create token subresource of serviceaccount");
  return known.isRelated("serviceaccounts") ? ALLOW : unrelated(node);
}

const OWN_OBJECT_VERBS = new Set(["get", "create", "update", "patch", "delete"]);

function onLease({ node, verb, resource: { namespace, name } }: Question): Opinion {
  if (!OWN_OBJECT_VERBS.has(verb)) return no("can only get, create, update, patch, or delete a node lease");
  if (namespace !== NODE_LEASES) return no(`can only access leases in the "${NODE_LEASES}" system namespace`);
  // The name is in the body of a create; NodeRestriction checks it.
  if (verb !== "create" && name !== node)
    return no("can only access node lease with the same name as the requesting node");
  return ALLOW;
}

function onCsiNode({ node, verb, resource: { name, subresource } }: Question): Opinion {
  if (!OWN_OBJECT_VERBS.has(verb)) return no("can only get, create, update, patch, or delete a CSINode");
  if (subresource) return no("cannot authorize CSINode subresources");
  if (verb !== "create" && name !== node)
    return no("can only access CSINode with the same name as the requesting node");
  return ALLOW;
}

function onResourceSlice(question: Question, known: Known): Opinion {
  const { verb, resource } = question;
  if (resource.subresource) return no("cannot authorize ResourceSlice subresources");
  switch (verb) {
    case "create":
      return ALLOW;
    case "get":
    case "update":
    case "patch":
    case "delete":
      return onNodeName(question, known);
    case "watch":
    case "list":
    case "deletecollection":
      return selectsNode(question, "spec.nodeName")
        ? ALLOW
        : no("can only list/watch/deletecollection resourceslices with nodeName field selector");
    default:
      return no(
        "only the following verbs are allowed for a ResourceSlice: get, watch, list, create, update, patch, delete, deletecollection",
      );
  }
}

function onNode({ node, verb, resource: { name, subresource } }: Question): Opinion {
  if (subresource === "status") return verb === "update" || verb === "patch" ? ALLOW : no();
  if (subresource) return no();
  switch (verb) {
    case "create":
    case "update":
    case "patch":
      return ALLOW;
    case "get":
    case "list":
    case "watch":
      if (name === node) return ALLOW;
      return no(`node '${node}' cannot read ${name ? `'${name}'` : "all nodes"}, only its own Node object`);
    default:
      return no();
  }
}

function onPod(question: Question, known: Known): Opinion {
  const { verb } = question;
  const { subresource, name } = question.resource;
  if (subresource === "status") return verb === "update" || verb === "patch" ? ALLOW : no();
  if (subresource === "eviction") return verb === "create" ? ALLOW : no();
  if (subresource) return no();
  switch (verb) {
    case "get":
      return related(question, known, "pods");
    case "list":
    case "watch":
      if (selectsNode(question, "spec.nodeName")) return ALLOW;
      return name ? related(question, known, "pods") : no("can only list/watch pods with spec.nodeName field selector");
    case "create":
    case "delete":
      return ALLOW;
    default:
      return no();
  }
}

/** Whether the request asks only for objects whose field names the node. */
function selectsNode({ node, resource: { fieldSelector = "" } }: Question, path: string): boolean {
  try {
    return parseFieldSelector(fieldSelector).some(
      (requirement) => requirement.path === path && requirement.op === "=" && requirement.value === node,
    );
  } catch (error) {
    // The selector is rejected when the request is served.
    if (error instanceof ApiError) return false;
    throw error;
  }
}
