/** TokenRequest: issues a service account token with a lifetime, audiences and an optional bound object. */
import { badRequest, conflict, field, invalid, notFound, parseApiVersion } from "@flotilla/apimachinery";
import type { ClusterReader } from "@flotilla/apimachinery";
import { Node, Pod, TokenRequest } from "@flotilla/kubernetes";
import { formatTime, randomUuid } from "@flotilla/base";
import type { Json, JsonObject } from "@flotilla/base";
import type { BoundObjects, NamedObject } from "../access/account-claims.ts";
import { checkNodeToken } from "../admission/node-restriction.ts";
import { Decisions } from "../request/decisions.ts";
import type { Action, ActionDependencies } from "./action.ts";
import { createClusterReader } from "../clusters/cluster-reader.ts";

import type { RequestContext } from "../request/context.ts";
import { metadataOf } from "../codec/metadata.ts";
import { checkNamespace } from "../write/namespaces.ts";
import { createResource } from "../resources/resources.ts";
import { admitSent, readSent } from "./sent-object.ts";

const GROUP = "authentication.k8s.io";
const KIND = "TokenRequest";
const REQUEST = createResource(TokenRequest).storage;

const DEFAULT_SECONDS = 3600;
const MIN_SECONDS = 600;
const MAX_SECONDS = 2 ** 32;
/**
 * The lifetime that the kubelet requests on behalf of pods. Old clients in pods read their token only once, so it is
 * valid for longer than it reports.
 */
const POD_SECONDS = 3607;
const EXTENDED_SECONDS = 365 * 24 * 3600;

type Spec = NonNullable<TokenRequest["spec"]>;

export const token: Action = {
  group: "",
  resource: "serviceaccounts",
  subresource: "token",
  sends: REQUEST,
  async run(deps, context, input) {
    const { clock, store, random, accountTokens } = deps;
    const { name = "", namespace = "", cluster } = context;
    checkNamespace(store, cluster, context.served.resource, namespace, name);
    const received = await readSent({ ...context, served: REQUEST }, input, {
      clock,
      facts: "authentication-v1",
      keepsUid: true,
      complete: withLifetime,
    });
    const object = await admitSent(deps, context, received);
    const sent = metadataOf(object);
    if (typeof sent.name === "string" && sent.name !== name)
      throw invalid(GROUP, KIND, name, [
        field.invalid("metadata.name", sent.name, "must match the service account name if specified"),
      ]);
    const read = createClusterReader(store, cluster);
    const account = identityOf(read, "serviceaccounts", namespace, name);
    if (typeof sent.uid === "string" && sent.uid !== account.uid) {
      throw conflict(
        { group: GROUP, resource: KIND },
        name,
        `the UID in the token request (${sent.uid}) does not match the UID of the service account (${account.uid})`,
      );
    }
    const spec = object.spec as unknown as Spec;
    const { audiences: asked = [], expirationSeconds = DEFAULT_SECONDS } = spec;
    checkLifetime(expirationSeconds);
    await checkNode(deps, context, read, spec);
    const bound = spec.boundObjectRef ? boundObjects(read, context, spec.boundObjectRef) : {};
    const audiences = asked.length > 0 ? asked : accountTokens.audiences;
    const nowMs = clock.now();
    const extended =
      bound.pod !== undefined &&
      expirationSeconds === POD_SECONDS &&
      audiences.every((audience) => accountTokens.audiences.includes(audience));
    const issued = await accountTokens.issue(cluster, {
      namespace,
      account,
      ...bound,
      audiences,
      id: randomUuid(random),
      issuedAt: Math.floor(nowMs / 1000),
      lifetimeSeconds: extended ? EXTENDED_SECONDS : expirationSeconds,
      warnAfterSeconds: extended ? expirationSeconds : undefined,
    });
    return {
      type: "object",
      object: {
        ...object,
        metadata: { ...sent, name, namespace, uid: account.uid, creationTimestamp: formatTime(nowMs) },
        spec: {
          ...(object.spec as JsonObject),
          audiences: [...audiences],
          boundObjectRef: (spec.boundObjectRef ?? null) as Json,
        },
        status: { token: issued, expirationTimestamp: formatTime(nowMs + expirationSeconds * 1000) },
      },
      code: 201,
    };
  },
};

/** What the request of a node may contain, which a role can extend by audiences. */
async function checkNode(
  { authorizer }: ActionDependencies,
  { user, cluster, namespace = "", name = "" }: RequestContext,
  read: ClusterReader,
  spec: Spec,
): Promise<void> {
  const decisions = new Decisions(authorizer);
  const mayRequest = (audience: string): boolean =>
    decisions.decide({
      user,
      cluster: cluster.name,
      verb: "request-serviceaccounts-token-audience",
      resource: { group: "", version: "v1", resource: audience, namespace, name },
    }).allowed;
  await decisions.settle(() => checkNodeToken({ user, namespace, account: name, read, mayRequest }, spec));
}

function withLifetime(object: JsonObject): JsonObject {
  return { ...object, spec: { expirationSeconds: DEFAULT_SECONDS, ...(object.spec as JsonObject | undefined) } };
}

function checkLifetime(seconds: number): void {
  const refuse = (why: string): never => {
    throw invalid(GROUP, KIND, "", [field.invalid("spec.expirationSeconds", seconds, why)]);
  };
  if (seconds < MIN_SECONDS) refuse("may not specify a duration less than 10 minutes");
  if (seconds > MAX_SECONDS) refuse("may not specify a duration larger than 2^32 seconds");
}

const BINDABLE = new Map([
  ["Pod", "pods"],
  ["Secret", "secrets"],
  ["Node", "nodes"],
]);

function boundObjects(
  read: ClusterReader,
  { namespace, name: account = "" }: RequestContext,
  reference: NonNullable<Spec["boundObjectRef"]>,
): BoundObjects {
  const { apiVersion = "", kind = "", name = "", uid } = reference;
  const { group, version } = parseApiVersion(apiVersion);
  const plural = group === "" ? BINDABLE.get(kind) : undefined;
  if (plural === undefined) throw badRequest(`cannot bind token to object of type ${group}/${version}, Kind=${kind}`);
  if (name === "") throw badRequest("Name parameter required.");
  const found = identityOf(read, plural, kind === "Node" ? undefined : namespace, name);
  const pod = kind === "Pod" ? read.get(Pod, namespace, name)?.spec : undefined;
  if (kind === "Pod" && pod?.serviceAccountName !== account)
    throw badRequest(
      `cannot bind token for serviceaccount ${JSON.stringify(account)} to pod running with different serviceaccount name.`,
    );
  if (uid && uid !== found.uid) {
    throw conflict(
      { group, resource: kind },
      name,
      `the UID in the bound object reference (${uid}) does not match the UID in record. The object might have been deleted and then recreated`,
    );
  }
  if (kind === "Secret") return { secret: found };
  if (kind === "Node") return { node: found };
  return { pod: found, node: pod?.nodeName ? nodeOf(read, pod.nodeName) : undefined };
}

/** A pod may be assigned to a node that does not exist yet; then only the node's name is known. */
function nodeOf(read: ClusterReader, name: string): NamedObject {
  return { name, uid: read.get(Node, undefined, name)?.metadata.uid ?? "" };
}

function identityOf(read: ClusterReader, plural: string, namespace: string | undefined, name: string): NamedObject {
  const object = read.get({ group: "", plural }, namespace, name);
  if (!object) throw notFound({ group: "", resource: plural }, name);
  return { name, uid: object.metadata.uid ?? "" };
}
