/**
 * Who looks: credentials for the hub, and the part of the fleet that they may see.
 *
 * Everything a viewer sees is read with the viewer's own credentials, so the hub applies its roles. Sessions with the
 * same credentials share one set of watches and the bytes made from them.
 */
import { HUB } from "@flotilla/apimachinery";
import { FlotillaError, isObject } from "@flotilla/base";
import type { Clock, JsonObject, Log, Timer } from "@flotilla/base";
import { readJson, readText } from "@flotilla/client";
import type { Client } from "@flotilla/client";
import type { HubConnection } from "@flotilla/cli";
import { fleetQuestions } from "@flotilla/cli";
import { Cluster, ClusterResourceBinding, ResourceBinding } from "@flotilla/karmada";
import { Lease } from "@flotilla/kubernetes";
import { ManagedCluster } from "@flotilla/ocm";
import type { Scope } from "@flotilla/web";
import { objectAt } from "./json-access.ts";
import { rejectedCredentials } from "./credentials-error.ts";
import { createFindings } from "./findings.ts";
import type { Findings } from "./findings.ts";
import { createFleetFeed } from "./fleet-feed.ts";
import type { FleetFeed } from "./fleet-feed.ts";

/** What sessions with the same credentials share. */
export interface View {
  feed: FleetFeed;
  findings: Findings;
}

export interface Viewer {
  /** Equal for equal credentials. */
  key: string;
  user: string;
  groups: readonly string[];
  hub: Pick<HubConnection, "client" | "server" | "upgrade">;
  /** Opens the view, or joins it; every call is matched by one of `leave`. */
  join(signal: AbortSignal): Promise<View>;
  leave(): void;
  /** Calls back when the viewer's rights changed: join again. */
  onRights(listener: () => void): () => void;
  /** Closes the view and the connection. */
  close(): Promise<void>;
}

interface ViewerOptions {
  key: string;
  hub: HubConnection;
  /** The data directory of the hub, if it is on this machine. */
  data: string | undefined;
  /** How often rights are checked again. */
  rightsMs: number;
  /** Called when the hub no longer accepts the credentials. */
  onRejected(): void;
  clock: Clock;
  log: Log;
}

/** A reload of the page finds everything as it was. */
const LINGER_MS = 30_000;
/** Rights in more namespaces than this are not looked for one by one. */
const MAX_NAMESPACES = 200;

/** Throws `FlotillaError` with the code `Unauthorized` when the hub rejects the credentials. */
export async function createViewer(options: ViewerOptions, signal: AbortSignal): Promise<Viewer> {
  const { key, hub, data, rightsMs, onRejected, clock, log } = options;
  const { user, groups } = await readUser(hub.client, signal);
  const closing = new AbortController();
  const listeners = new Set<() => void>();
  let opening: Promise<View> | undefined;
  let joined = 0;
  let lingering: Timer | undefined;
  let checking: Timer | undefined;

  async function open(): Promise<View> {
    const scope = await readScope(hub.client, closing.signal);
    const summaries = await fleetQuestions.summaries();
    const feed = createFleetFeed({ client: hub.client, scope, summaries, clock, log });
    const findings = createFindings({ hub, feed, data, clock, log });
    await feed.synced(AbortSignal.any([closing.signal, AbortSignal.timeout(20_000)]));
    return { feed, findings };
  }
  function shut(): void {
    const old = opening;
    opening = undefined;
    void old?.then(
      ({ feed, findings }) => {
        findings.close();
        feed.close();
      },
      () => {},
    );
  }
  function check(): void {
    // Listeners that joined the new view have started one already.
    checking?.cancel();
    checking = clock.after(rightsMs, () => void recheck());
  }
  async function recheck(): Promise<void> {
    const now = opening;
    if (!now || closing.signal.aborted) return;
    try {
      const [{ feed }, scope] = await Promise.all([now, readScope(hub.client, closing.signal)]);
      const { live: _live, ...current } = feed.scope;
      const { live: _new, ...next } = scope;
      if (opening === now && JSON.stringify(current) !== JSON.stringify(next)) {
        shut();
        for (const listener of listeners) listener();
      }
    } catch (error) {
      // Watches that the hub accepted before go on.
      if (error instanceof FlotillaError && error.code === "Unauthorized") onRejected();
      // The hub is away: the rows stay as they are, and watches report the same.
      log.debug("checking the rights of a viewer failed", { error });
    }
    check();
  }

  return {
    key,
    user,
    groups,
    hub,
    async join() {
      lingering?.cancel();
      joined += 1;
      if (!opening) {
        opening = open();
        check();
      }
      const attempt = opening;
      try {
        return await attempt;
      } catch (error) {
        if (opening === attempt) opening = undefined; // The next one tries again.
        throw error;
      }
    },
    leave() {
      joined -= 1;
      if (joined > 0) return;
      lingering?.cancel();
      lingering = clock.after(LINGER_MS, () => {
        if (joined > 0) return;
        checking?.cancel();
        shut();
      });
    },
    onRights(listener) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    async close() {
      closing.abort();
      lingering?.cancel();
      checking?.cancel();
      shut();
      await hub.close();
    },
  };
}

/** Asks the hub who the credentials belong to. */
async function readUser(client: Client, signal: AbortSignal): Promise<{ user: string; groups: readonly string[] }> {
  const answer = await post(
    client,
    "/apis/authentication.k8s.io/v1/selfsubjectreviews",
    { apiVersion: "authentication.k8s.io/v1", kind: "SelfSubjectReview" },
    signal,
  );
  const info = objectAt(objectAt(answer, "status"), "userInfo");
  const { username, groups } = info;
  return {
    user: typeof username === "string" ? username : "",
    groups: Array.isArray(groups) ? groups.filter((group) => typeof group === "string") : [],
  };
}

/** Everything, or the namespaces whose bindings the viewer may list. */
async function readScope(client: Client, signal: AbortSignal): Promise<Scope> {
  const kinds = [Cluster, ManagedCluster, Lease, ResourceBinding, ClusterResourceBinding];
  const allowed = await Promise.all(
    kinds.map(({ group, plural }) => mayDo(client, { verb: "list", group, resource: plural }, signal)),
  );
  const hidden = kinds.filter((_, index) => !allowed[index]).map(({ plural }) => plural);
  if (!hidden.includes(ResourceBinding.plural)) return { hidden, live: false };
  const names = await readNamespaces(client, signal);
  const visible = await Promise.all(
    names.map((namespace) =>
      mayDo(
        client,
        { verb: "list", group: ResourceBinding.group, resource: ResourceBinding.plural, namespace },
        signal,
      ),
    ),
  );
  return { hidden, live: false, namespaces: names.filter((_, index) => visible[index]) };
}

/** The namespaces that the viewer may list; otherwise those that are named after nothing are unknown. */
async function readNamespaces(client: Client, signal: AbortSignal): Promise<string[]> {
  const { status, body } = await client.raw(
    { method: "GET", path: `/api/v1/namespaces?limit=${MAX_NAMESPACES}`, cluster: HUB, headers: JSON_ONLY },
    signal,
  );
  const text = await readText(body);
  if (status !== 200) return ["default"];
  const { items } = JSON.parse(text) as { items?: { metadata: { name: string } }[] };
  return (items ?? []).map(({ metadata }) => metadata.name);
}

const JSON_ONLY = { accept: "application/json" };

interface Access {
  verb: string;
  group: string;
  resource: string;
  subresource?: string;
  namespace?: string;
  name?: string;
}

export async function mayDo(client: Client, access: Access, signal: AbortSignal): Promise<boolean> {
  const answer = await post(
    client,
    "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews",
    {
      apiVersion: "authorization.k8s.io/v1",
      kind: "SelfSubjectAccessReview",
      spec: { resourceAttributes: { ...access } },
    },
    signal,
  );
  return objectAt(answer, "status")["allowed"] === true;
}

async function post(client: Client, path: string, object: JsonObject, signal: AbortSignal): Promise<JsonObject> {
  const { status, body } = await client.raw(
    {
      method: "POST",
      path,
      cluster: HUB,
      headers: { ...JSON_ONLY, "content-type": "application/json" },
      body: Buffer.from(JSON.stringify(object)),
    },
    signal,
  );
  if (status === 401) {
    await readText(body);
    throw rejectedCredentials();
  }
  if (status !== 200 && status !== 201) {
    await readText(body);
    throw new FlotillaError("HubAnswer", `the hub answered ${path} with status ${status}`);
  }
  const answer = await readJson(body);
  return isObject(answer) ? answer : {};
}
