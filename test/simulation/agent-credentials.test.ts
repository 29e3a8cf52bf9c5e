/**
 * The credentials of an agent: requested, approved, renewed, denied, expired, and not mixed up with another agent's.
 */
import { afterEach, beforeEach, expect, test } from "vitest";
import {
  createCredentialKeeper,
  introduce,
  latestOf,
  makeRequest,
  managedClusterIdentity,
  NameTakenError,
} from "@flotilla/flotilla";
import type { CredentialKeeper, CredentialStore, HubCredentials, Rotation } from "@flotilla/flotilla";
import { CertificateSigningRequest, CLIENT_SIGNER, requestState } from "@flotilla/kubernetes";
import { ManagedCluster } from "@flotilla/ocm";
import { createCertificateAuthority, parseCertificateRequest, unauthorized } from "@flotilla/apimachinery";
import { createFakeClock, createSeededRandom, formatTime, silentLog } from "@flotilla/base";
import type { FakeClock } from "@flotilla/base";
import { createClient } from "@flotilla/client";
import type { Client } from "@flotilla/client";
import { startTestFleet } from "@flotilla/testing/fleet/fleet.ts";
import type { TestFleet } from "@flotilla/testing/fleet/fleet.ts";

const MINUTE_MS = 60_000;
const address = { name: "hub", server: "https://hub.example.com", ca: "", proxyUrl: "", others: [] };
const identity = managedClusterIdentity("paris", "agent1");

let fleet: TestFleet;
let clock: FakeClock;
let stopping: AbortController;
let stored: HubCredentials | undefined;
let seed = 0;
const rotations: Rotation[] = [];
/** Injected errors for storing credentials, before the request and after. */
let problem: { prepare?: Error; save?: Error } = {};
const store: CredentialStore = {
  load: async () => stored,
  async prepare() {
    if (problem.prepare) throw problem.prepare;
  },
  async save(credentials) {
    if (problem.save) throw problem.save;
    stored = credentials;
  },
};

beforeEach(async () => {
  clock = createFakeClock();
  fleet = await startTestFleet({ members: [], clock, authority: await createCertificateAuthority({ clock }) });
  stopping = new AbortController();
  stored = undefined;
  problem = {};
  rotations.length = 0;
});
afterEach(async () => {
  stopping.abort();
  await fleet.stop();
});

const as = (name: string, ...groups: string[]): Client =>
  createClient({
    transport: fleet.hub.server.transport({ name, groups: [...groups, "system:authenticated"] }),
    fieldManager: "agent",
  });
const bootstrapClient = (): Client =>
  as("system:bootstrap:abcdef", "system:bootstrappers", "system:bootstrappers:managedcluster");

function createKeeper(id = "paris-id", bootstrap = bootstrapClient()): CredentialKeeper {
  return createCredentialKeeper({
    hub: "hub",
    address,
    cluster: "paris",
    agent: "agent1",
    identityOf: (agent) => managedClusterIdentity("paris", agent),
    store,
    bootstrap: {
      client: bootstrap,
      introduce: (client, _agent, signal) =>
        introduce(client, { hub: "hub", cluster: "paris", id, server: "https://paris.example.com", ca: "" }, signal),
    },
    client: as(identity.commonName, ...identity.organizations),
    expirationSeconds: 3600,
    clock,
    random: createSeededRandom(++seed),
    log: silentLog,
    onRotation: (rotation) => rotations.push(rotation),
  });
}

/** The agent is not part of the fleet, whose clock does not wait for it. */
async function run(ms: number): Promise<void> {
  for (const end = clock.now() + ms; clock.now() < end;) {
    for (let turn = 0; turn < 20; turn++) await new Promise((resolve) => setImmediate(resolve));
    await fleet.run(Math.min(end - clock.now(), 5_000));
  }
}
const requests = async (): Promise<readonly CertificateSigningRequest[]> =>
  (await fleet.client.list(CertificateSigningRequest, { cluster: "hub" }))
    .items as readonly CertificateSigningRequest[];
async function untilAsked(): Promise<void> {
  for (let look = 0; look < 500; look++) {
    if ((await requests()).some((request) => !requestState(request).approved && !requestState(request).denied)) return;
    await run(100);
  }
}
async function decide(type: "Approved" | "Denied"): Promise<void> {
  for (const request of await requests()) {
    const { approved, denied } = requestState(request);
    if (approved || denied) continue;
    const condition = {
      type,
      status: "True",
      reason: "Test",
      message: "because",
      lastUpdateTime: formatTime(clock.now()),
    };
    await fleet.client.patch(
      CertificateSigningRequest,
      { cluster: "hub", name: request.metadata.name },
      { status: { conditions: [condition] } },
      { type: "merge", subresource: "approval" },
    );
  }
}
async function accept(): Promise<void> {
  await fleet.client.patch(
    ManagedCluster,
    { cluster: "hub", name: "paris" },
    { spec: { hubAcceptsClient: true } },
    { type: "merge" },
  );
  await decide("Approved");
}
/** A keeper with issued credentials. */
async function join(): Promise<CredentialKeeper> {
  const keeper = createKeeper();
  const obtained = keeper.obtain(stopping.signal);
  await untilAsked();
  await accept();
  await run(30_000);
  await obtained;
  return keeper;
}

test("a new agent creates its ManagedCluster, requests a certificate with the exact subject, and stores it", async () => {
  const keeper = createKeeper();
  const obtained = keeper.obtain(stopping.signal);
  await untilAsked();

  const [request] = await requests();
  const { commonName, subject } = parseCertificateRequest(request?.spec.request ?? "");
  expect([commonName, subject.O]).toEqual([
    "system:open-cluster-management:paris:agent1",
    ["system:open-cluster-management:paris", "system:open-cluster-management:managed-clusters"],
  ]);
  expect(request?.metadata.labels).toEqual({ "open-cluster-management.io/cluster-name": "paris" });
  expect(
    (await fleet.client.get(ManagedCluster, { cluster: "hub", name: "paris" })).spec.managedClusterClientConfigs,
  ).toEqual([{ url: "https://paris.example.com" }]);

  await accept();
  await run(30_000);

  expect((await obtained).agent).toBe("agent1");
  expect(stored?.cert).toContain("BEGIN CERTIFICATE");
  expect((await keeper.source.current()).cert).toBe(stored?.cert);
});

test("a restarted agent uses its stored certificate, and requests none", async () => {
  await join();

  await createKeeper().obtain(stopping.signal);

  expect(await requests()).toHaveLength(1);
});

test("an agent renews its certificate when a fifth to a quarter of its lifetime is left", async () => {
  const keeper = await join();
  const first = stored?.cert;
  const keeping = keeper.keep(stopping.signal);

  await run(35 * MINUTE_MS);
  expect(stored?.cert).toBe(first);
  await run(15 * MINUTE_MS);

  expect(stored?.cert).not.toBe(first);
  expect((await requests()).map(({ spec }) => spec.username)).toContain(identity.commonName);
  stopping.abort();
  await keeping;
});

test("a certificate that expired without renewal is requested again, with the bootstrap identity", async () => {
  await join();
  const first = stored?.cert;
  clock.advance(2 * 60 * MINUTE_MS);

  const obtained = createKeeper().obtain(stopping.signal);
  await untilAsked();
  await decide("Approved");
  await run(30_000);
  await obtained;

  expect(stored?.cert).not.toBe(first);
  expect((await requests()).filter(({ spec }) => spec.username === "system:bootstrap:abcdef").length).toBeGreaterThan(
    0,
  );
});

test("an agent whose request is denied retries after an hour, and not before", async () => {
  createKeeper()
    .obtain(stopping.signal)
    .catch((error: unknown) => {
      if (!stopping.signal.aborted) throw error;
    });
  await untilAsked();
  await decide("Denied");
  await run(30 * MINUTE_MS);
  expect(rotations.at(-1)).toEqual({ ok: false, message: expect.stringContaining("was denied: because") });
  expect(await requests()).toHaveLength(1);

  await run(60 * MINUTE_MS);

  expect((await requests()).filter((request) => !requestState(request).denied)).toHaveLength(1);
});

test("another cluster under the same name is rejected, and stops", async () => {
  await join();
  stored = undefined;

  const second = createKeeper("another-id").obtain(stopping.signal);

  await expect(second).rejects.toThrow(NameTakenError);
});

test("the name of a cluster that the hub reaches itself is taken", async () => {
  await fleet.hub.addMembers(["paris"], (name) => `https://${name}.example.com`, stopping.signal);
  await run(5_000);

  await expect(createKeeper().obtain(stopping.signal)).rejects.toThrow(
    "another cluster is already registered as paris: it is reached directly by the hub",
  );
  expect(await requests()).toEqual([]);
});

/** Retries until the test ends. */
function keepTrying(keeper: CredentialKeeper): void {
  keeper.obtain(stopping.signal).catch((error: unknown) => {
    if (!stopping.signal.aborted) throw error;
  });
}

test("an agent that cannot store a certificate requests none", async () => {
  problem = { prepare: new Error("no room") };
  keepTrying(createKeeper());
  await run(MINUTE_MS);

  expect(await requests()).toEqual([]);
  expect(rotations.at(-1)).toEqual({ ok: false, message: "no room" });

  problem = {};
  await run(2 * MINUTE_MS);
  expect(await requests()).toHaveLength(1);
});

test("a certificate that could not be stored at first is stored later, and not requested twice", async () => {
  problem = { save: new Error("no room") };
  keepTrying(createKeeper());
  await untilAsked();
  await accept();
  await run(5 * MINUTE_MS);
  expect([stored, (await requests()).length]).toEqual([undefined, 1]);

  problem = {};
  await run(10 * MINUTE_MS);

  expect(stored).toMatchObject({ cluster: "paris", agent: "agent1" });
  expect(await requests()).toHaveLength(1);
});

test("an expired bootstrap token is reported, with the command that creates another", async () => {
  const refuse = (): never => {
    throw unauthorized();
  };
  keepTrying(createKeeper("paris-id", { ...bootstrapClient(), get: refuse }));
  await run(5_000);

  expect(rotations.at(-1)).toEqual({
    ok: false,
    message: expect.stringContaining(
      "it has expired or was used for another cluster. Run 'flotilla token --bootstrap-kubeconfig FILE' on the hub to create another",
    ),
  });
});

test("decided requests do not count, and at most ten are pending", async () => {
  const leave = async (name: string): Promise<unknown> =>
    bootstrapClient().create(CertificateSigningRequest, "hub", {
      apiVersion: "certificates.k8s.io/v1",
      kind: "CertificateSigningRequest",
      metadata: { name, labels: identity.labels },
      spec: {
        request: Buffer.from(makeRequest(identity).request).toString("base64"),
        signerName: CLIENT_SIGNER,
        usages: ["client auth"],
      },
    });
  for (let index = 0; index < 12; index++) await leave(`old-${index}`);
  await decide("Denied");
  for (let index = 0; index < 10; index++) await leave(`waiting-${index}`);
  keepTrying(createKeeper());
  await run(5_000);
  expect(rotations.at(-1)).toEqual({ ok: false, message: expect.stringContaining("too many csr: 10 requests") });

  await fleet.client.delete(CertificateSigningRequest, { cluster: "hub", name: "waiting-0" });
  await run(2 * MINUTE_MS);

  expect((await requests()).filter(({ metadata }) => metadata.name.startsWith("paris-"))).toHaveLength(1);
});

test("credentials for another hub are not used", async () => {
  await join();
  const kept = stored as unknown as HubCredentials;
  stored = { ...kept, address: { ...address, server: "https://elsewhere.example.com" } };

  const obtained = createKeeper().obtain(stopping.signal);
  await untilAsked();
  await decide("Approved");
  await run(30_000);
  await obtained;

  expect(stored.address.server).toBe(address.server);
});

test("credentials from a new registration win over stored ones if they last longer or are for another hub", async () => {
  await join();
  const kept = stored as HubCredentials;
  const broken = { ...kept, cert: "no certificate" };
  const elsewhere = { ...kept, address: { ...kept.address, server: "https://other.example.com" } };

  expect(latestOf(undefined, kept)).toBe(kept);
  expect(latestOf(kept, broken)).toBe(kept);
  expect(latestOf(broken, kept)).toBe(kept);
  expect(latestOf(kept, elsewhere)).toBe(elsewhere);
});
