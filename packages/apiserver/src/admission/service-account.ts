/**
 * ServiceAccount: every pod runs as a service account of its namespace. The account's token is mounted where clients
 * expect it, and its secrets are used to pull images.
 */
import { Pod, ServiceAccount, MIRROR_POD_ANNOTATION, MOUNTABLE_SECRETS_ANNOTATION } from "@flotilla/kubernetes";
import { refusal } from "@flotilla/apimachinery";
import type { AdmissionStep, Review } from "@flotilla/apimachinery";
import type { Container, Volume } from "@flotilla/apimachinery/facts/core-v1.ts";
import { NAME_ALPHABET, defined } from "@flotilla/base";
import type { DeepReadonly } from "@flotilla/base";
import { plainError } from "../request/context.ts";

type ReadPod = DeepReadonly<Pod>;
type ReadContainer = DeepReadonly<Container>;

/** An account without settings has no metadata either. */
type ReadAccount = DeepReadonly<Partial<ServiceAccount>>;

const DEFAULT_ACCOUNT = "default";
const TOKEN_PATH = "/var/run/secrets/kubernetes.io/serviceaccount";
const TOKEN_VOLUME = "kube-api-access-";
/** An hour and a little more: clients that do not reload the token get warnings and continue to work. */
const TOKEN_SECONDS = 3607;

/** Pods of some clusters are templates that run elsewhere: they have no account here. */
export const createServiceAccountStep = (arePodsTemplates: (cluster: string) => boolean): AdmissionStep<Pod> => ({
  name: "ServiceAccount",
  for: Pod,
  on: ["CREATE", "UPDATE"],
  matches: ({ operation, subresource, cluster }) =>
    subresource === (operation === "CREATE" ? undefined : "ephemeralcontainers") && !arePodsTemplates(cluster),
  complete(review) {
    const { object: pod } = review;
    if (review.operation === "UPDATE") return pod;
    if (isMirror(pod)) {
      checkMirror(review);
      return pod;
    }
    const name = pod.spec.serviceAccountName || DEFAULT_ACCOUNT;
    const account = accountOf(name, review);
    let result: ReadPod =
      name === pod.spec.serviceAccountName
        ? pod
        : { ...pod, spec: { ...pod.spec, serviceAccountName: name, serviceAccount: name } };
    if (pod.spec.automountServiceAccountToken ?? account.automountServiceAccountToken ?? true)
      result = withToken(result);
    if (!pod.spec.imagePullSecrets?.length && account.imagePullSecrets?.length) {
      const imagePullSecrets = account.imagePullSecrets.map(({ name: secret }) =>
        secret === undefined ? {} : { name: secret },
      );
      result = { ...result, spec: { ...result.spec, imagePullSecrets } };
    }
    const problem = isTrue(account.metadata?.annotations?.[MOUNTABLE_SECRETS_ANNOTATION])
      ? secretProblem(account, result)
      : undefined;
    if (problem !== undefined) throw refusal(review, problem);
    return result;
  },
  check(review) {
    const { operation, object: pod, namespace = "" } = review;
    if (operation !== "UPDATE") return;
    const name = pod.spec.serviceAccountName ?? "";
    if (name === "") throw refusal(review, `no service account specified for pod ${namespace}/${pod.metadata.name}`);
    const account = accountOf(name, review);
    if (!isTrue(account.metadata?.annotations?.[MOUNTABLE_SECRETS_ANNOTATION])) return;
    const problem = secretProblem(account, {
      ...pod,
      spec: { containers: [], ephemeralContainers: pod.spec.ephemeralContainers ?? [] },
    });
    // kube-apiserver reports this as an internal error.
    if (problem !== undefined) throw plainError(problem);
  },
});

const isTrue = (text: string | undefined): boolean =>
  text !== undefined && ["1", "t", "T", "TRUE", "true", "True"].includes(text);
const isMirror = ({ metadata }: ReadPod): boolean => Object.hasOwn(metadata.annotations ?? {}, MIRROR_POD_ANNOTATION);

/** A mirror pod represents a static pod on a node and may not use API objects. */
function checkMirror(review: Review<Pod>): void {
  const { spec } = review.object;
  if (spec.serviceAccountName) throw refusal(review, "a mirror pod may not reference service accounts");
  const containers = [...(spec.initContainers ?? []), ...(spec.containers ?? [])];
  const hasSecrets =
    spec.imagePullSecrets?.some(({ name }) => name) ||
    spec.volumes?.some(({ secret, projected }) => secret || projected?.sources?.some((source) => source.secret)) ||
    containers.some(
      ({ env, envFrom }) =>
        env?.some(({ valueFrom }) => valueFrom?.secretKeyRef) || envFrom?.some(({ secretRef }) => secretRef),
    );
  if (hasSecrets) throw refusal(review, "a mirror pod may not reference secrets");
  if (spec.volumes?.some(({ projected }) => projected?.sources?.some(({ serviceAccountToken }) => serviceAccountToken)))
    throw refusal(review, "a mirror pod may not use ServiceAccountToken volume projections");
}

/**
 * The service account that a pod runs as. A missing default account counts as one without settings in clusters without
 * a service account controller (their `default` namespace has no default account either), and for controllers in this
 * process, which would otherwise only retry until it exists.
 */
function accountOf(name: string, review: Review<Pod>): ReadAccount {
  const { read, namespace = "", byController } = review;
  const account = read.get(ServiceAccount, namespace, name);
  if (account) return account;
  if (name === DEFAULT_ACCOUNT && (byController || !read.get(ServiceAccount, "default", DEFAULT_ACCOUNT))) return {};
  throw refusal(
    review,
    `error looking up service account ${namespace}/${name}: serviceaccount ${JSON.stringify(name)} not found`,
  );
}

/** Mounts the token in every container that has no other mount at that path. */
function withToken(pod: ReadPod): ReadPod {
  const { spec, metadata } = pod;
  const lacks = (container: ReadContainer): boolean =>
    !container.volumeMounts?.some(({ mountPath }) => mountPath === TOKEN_PATH);
  const existing = spec.volumes?.find(({ name }) => name?.startsWith(TOKEN_VOLUME))?.name;
  if (!spec.containers?.some(lacks) && !spec.initContainers?.some(lacks)) return pod;
  const name =
    existing ??
    `${TOKEN_VOLUME}${suffixOf(metadata.ownerReferences?.find(({ controller }) => controller)?.uid ?? metadata.uid ?? "")}`;
  const mount = (container: ReadContainer): ReadContainer =>
    lacks(container)
      ? {
          ...container,
          volumeMounts: [...(container.volumeMounts ?? []), { name, readOnly: true, mountPath: TOKEN_PATH }],
        }
      : container;
  return {
    ...pod,
    spec: {
      ...spec,
      ...defined({
        volumes: existing === undefined ? [...(spec.volumes ?? []), tokenVolume(name)] : undefined,
        initContainers: spec.initContainers?.map(mount),
        containers: spec.containers?.map(mount),
      }),
    },
  };
}

/**
 * Five characters in the style of generated names. A uid is already random, and the name must be unique only within the
 * pod: the pods of one controller get the same name, so that they can share their volumes and containers in memory.
 */
function suffixOf(uid: string): string {
  let suffix = "";
  for (let index = 0; index < 5; index++)
    suffix +=
      NAME_ALPHABET[Number.parseInt(uid.slice(index * 2, index * 2 + 2), 16) % NAME_ALPHABET.length] ??
      NAME_ALPHABET[0];
  return suffix;
}

function tokenVolume(name: string): Volume {
  return {
    name,
    projected: {
      sources: [
        { serviceAccountToken: { expirationSeconds: TOKEN_SECONDS, path: "token" } },
        { configMap: { name: "kube-root-ca.crt", items: [{ key: "ca.crt", path: "ca.crt" }] } },
        {
          downwardAPI: {
            items: [{ path: "namespace", fieldRef: { apiVersion: "v1", fieldPath: "metadata.namespace" } }],
          },
        },
      ],
      defaultMode: 0o644,
    },
  };
}

/** The secret that a pod uses but its service account does not list, when the account enforces its list. */
function secretProblem(
  { metadata, secrets = [], imagePullSecrets = [] }: ReadAccount,
  { spec }: ReadPod,
): string | undefined {
  const allowed = new Set(secrets.map(({ name }) => name));
  const why = `is not allowed because service account ${metadata?.name ?? ""} does not reference that`;
  for (const { secret } of spec.volumes ?? [])
    if (secret && !allowed.has(secret.secretName))
      return `volume with secret.secretName="${secret.secretName ?? ""}" ${why} secret`;
  for (const [kind, containers] of [
    ["init container", spec.initContainers],
    ["container", spec.containers],
    ["ephemeral container", spec.ephemeralContainers],
  ] as const) {
    for (const { name: container, env, envFrom } of containers ?? []) {
      for (const { name, valueFrom } of env ?? []) {
        const secret = valueFrom?.secretKeyRef;
        if (secret && !allowed.has(secret.name))
          return `${kind} ${container} with envVar ${name} referencing secret.secretName="${secret.name ?? ""}" ${why} secret`;
      }
      for (const { secretRef } of envFrom ?? [])
        if (secretRef && !allowed.has(secretRef.name))
          return `${kind} ${container} with envFrom referencing secret.secretName="${secretRef.name ?? ""}" ${why} secret`;
    }
  }
  const pulls = new Set(imagePullSecrets.map(({ name }) => name));
  for (const [index, { name }] of (spec.imagePullSecrets ?? []).entries())
    if (!pulls.has(name)) return `imagePullSecrets[${index}].name="${name ?? ""}" ${why} imagePullSecret`;
  return undefined;
}
