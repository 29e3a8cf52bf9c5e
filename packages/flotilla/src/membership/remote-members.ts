/**
 * Members outside this process: a connection, a client, informers and a delivery for each, while its Cluster specifies
 * how to reach it. A token replaced in its Secret is used from the next request on. A new address, proxy or CA gets a
 * new connection under the same client, transparently for its users. Deleting a Cluster closes all of them.
 */
import { Cluster } from "@flotilla/karmada";
import { Secret } from "@flotilla/kubernetes";
import { equalJson } from "@flotilla/base";
import type { Clock, DeepReadonly, Log, Random } from "@flotilla/base";
import { createHttp2Transport, openUpgrade, UNTRUSTED_LIMITS } from "@flotilla/client";
import type { Credentials, CredentialSource, Transport } from "@flotilla/client";
import { createInformerBudget } from "@flotilla/controller-runtime";
import type { InformerLimits, Informers } from "@flotilla/controller-runtime";
import { openConnection, planAddress, tokenIn } from "./connection.ts";
import type { Address, AddressPlan } from "./connection.ts";
import { createListeners } from "./member.ts";
import type { Member, MemberSource } from "./member.ts";
import { createMemberCutOff } from "./member-cut-off.ts";
import { MEMBER_LIMITS } from "./member-limits.ts";
import { createMemberParts } from "./member-parts.ts";
import { createMemberTransport } from "./member-transport.ts";
import type { MemberTransport } from "./member-transport.ts";
import { createRemoteCall } from "./remote-call.ts";
import { reportFailures } from "./report-failures.ts";

export interface RemoteMembersOptions {
  hub: string;
  informers: Informers;
  clock: Clock;
  random: Random;
  log: Log;
  /** Wraps the transport to every member, for example to count writes. */
  wrap?(transport: Transport, part: string): Transport;
  /** How a connection is opened; unset is HTTP/2 over the network. */
  connect?: ConnectMember;
  /** Wraps every connection to measure traffic. */
  measure?(transport: Transport, cluster: string): Transport;
  /** What the informers of one member may hold. */
  limits?: InformerLimits;
  /** Called when a member is cut off, because it sent more than the limits allow. */
  onCutOff?(cluster: DeepReadonly<Cluster>, message: string): void;
}

/** Opens a connection to a member. `credentials` always returns the current content of its Secret. */
export type ConnectMember = (cluster: string, address: Address, credentials: CredentialSource) => Promise<Transport>;

/** Slightly below the timeout of Karmada's member clients: a longer request is better retried. */
const REQUEST_TIMEOUT_MS = 30_000;

/** The fields of a Cluster that name a Secret. */
type SecretField = "secretRef" | "impersonatorSecretRef";
const SECRET_FIELDS: readonly SecretField[] = ["secretRef", "impersonatorSecretRef"];

interface Opened {
  member: Member;
  address: Address;
  transports: Readonly<Record<SecretField, MemberTransport>>;
  close(): void;
}

const BY_SECRET = "membership.secret";

export function createRemoteMembers(given: RemoteMembersOptions): MemberSource {
  const {
    hub,
    informers,
    clock,
    random,
    log,
    wrap = (transport) => transport,
    measure = (transport) => transport,
    limits = MEMBER_LIMITS,
    ...options
  } = given;
  const clusters = informers.of(Cluster);
  const secrets = informers.of(Secret);
  const opened = new Map<string, Opened>();
  const closing = new Set<Promise<void>>();
  const listeners = createListeners();

  clusters.addIndex(BY_SECRET, ({ spec }) =>
    SECRET_FIELDS.flatMap((field) => (spec[field] ? [`${spec[field].namespace}/${spec[field].name}`] : [])),
  );
  const stops = [
    secrets.subscribe(({ object: { metadata } }) => {
      for (const cluster of clusters.by(BY_SECRET, `${metadata.namespace}/${metadata.name}`))
        for (const listener of listeners.all) listener.changed(cluster.metadata.name);
    }),
    clusters.subscribe(({ object, deleted }) => {
      if (deleted) drop(object.metadata.name);
    }),
  ];

  const secretOf = (namespace: string, name: string): DeepReadonly<Secret> | undefined =>
    secrets.get({ cluster: hub, namespace, name });

  /** Requested with every delivery; parsed again only when the Cluster or its Secret is another object. */
  const plans = new WeakMap<object, { secret: object | undefined; plan: AddressPlan }>();
  function addressOf(cluster: DeepReadonly<Cluster>): AddressPlan {
    const { secretRef } = cluster.spec;
    const secret = secretRef && secretOf(secretRef.namespace, secretRef.name);
    const known = plans.get(cluster);
    if (known && known.secret === secret) return known.plan;
    const plan = planAddress(cluster, () => secret);
    plans.set(cluster, { secret, plan });
    return plan;
  }

  /** The current token of the Secret. */
  function credentialsOf(cluster: string, field: SecretField): CredentialSource {
    const now = (): Credentials => {
      const reference = clusters.get({ cluster: hub, name: cluster })?.spec[field];
      const token = reference ? tokenIn(secretOf(reference.namespace, reference.name)) : "";
      return token === "" ? {} : { token };
    };
    return {
      current: async () => now(),
      async replace(refused) {
        const other = now();
        return other.token === refused.token ? undefined : other;
      },
    };
  }

  const overNetwork: ConnectMember = async (cluster, address, credentials) =>
    createHttp2Transport({
      ...(await openConnection(cluster, address, clock)),
      cluster: { only: cluster },
      credentials,
      requestTimeoutMs: REQUEST_TIMEOUT_MS,
      limits: UNTRUSTED_LIMITS,
      userAgent: "flotilla",
      clock,
      random,
    });
  const opener = (cluster: string, field: SecretField, address: Address) => async (): Promise<Transport> =>
    measure(await connect(cluster, address, credentialsOf(cluster, field)), cluster);

  const connect = options.connect ?? overNetwork;

  function open(cluster: string, address: Address): Opened {
    const transport = createMemberTransport(opener(cluster, "secretRef", address), log);
    const asOthers = createMemberTransport(opener(cluster, "impersonatorSecretRef", address), log);

    const cutOff = createMemberCutOff({
      cluster,
      clock,
      onCut(reason, pauseMs) {
        transport.disconnect();
        asOthers.disconnect();
        log.warn("member cut off, because it exceeded a limit", { member: cluster, reason, pauseMs });
        const object = clusters.get({ cluster: hub, name: cluster });
        const message = `${reason}; its connections are closed for ${pauseMs / 1000} s`;
        if (object) options.onCutOff?.(object, message);
      },
    });
    const { client, summary, delivery, writer, close } = createMemberParts({
      cluster,
      transport: reportFailures(cutOff.guard(transport), () => {
        for (const listener of listeners.all) listener.suspected(cluster);
      }),
      budget: createInformerBudget(limits, ({ message }) => cutOff.cut(message)),
      wrap,
      clock,
      random,
      log,
      onServed() {
        for (const listener of listeners.all) listener.served(cluster);
      },
    });
    const call = createRemoteCall({
      cluster,
      mayImpersonate: () => clusters.get({ cluster: hub, name: cluster })?.spec.impersonatorSecretRef !== undefined,
      transport: cutOff.guard(asOthers),
      upgrade: async (request, signal) =>
        openUpgrade(
          {
            ...(await openConnection(cluster, opened.get(cluster)?.address ?? address, clock)),
            credentials: credentialsOf(cluster, "impersonatorSecretRef"),
            clock,
          },
          request,
          signal,
        ),
    });
    const member: Member = { name: cluster, client, informers: summary, delivery, writer, call, reportsKinds: false };
    const closed = [...listeners.all].map((listener) => listener.opened(summary));
    log.info("connecting to a member", { member: cluster });
    return {
      member,
      address,
      transports: { secretRef: transport, impersonatorSecretRef: asOthers },
      close() {
        for (const forget of closed) forget();
        close();
      },
    };
  }

  function use(cluster: string, address: Address): Member {
    const present = opened.get(cluster);
    if (present && (present.address === address || equalJson(present.address, address))) return present.member;
    if (!present) {
      const fresh = open(cluster, address);
      opened.set(cluster, fresh);
      return fresh.member;
    }
    log.info("connection settings of a member changed", { member: cluster });
    for (const field of SECRET_FIELDS) present.transports[field].replace(opener(cluster, field, address));
    present.address = address;
    return present.member;
  }

  function drop(cluster: string): void {
    const present = opened.get(cluster);
    if (!present) return;
    opened.delete(cluster);
    present.close();
    const closed = Promise.all(SECRET_FIELDS.map((field) => present.transports[field].close())).then(
      () => void closing.delete(closed),
    );
    closing.add(closed);
    log.info("disconnected from a member", { member: cluster });
  }

  return {
    find(cluster) {
      const { name } = cluster.metadata;
      const plan = addressOf(cluster);
      // A member whose Secret is missing keeps its connection, whose requests fail with the reason.
      if ("problem" in plan) return { problem: plan.problem, member: opened.get(name)?.member };
      return use(name, plan.address);
    },
    listen: listeners.add,
    async close() {
      for (const stop of stops) stop();
      for (const cluster of opened.keys()) drop(cluster);
      await Promise.all(closing);
    },
  };
}
