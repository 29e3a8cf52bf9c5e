/**
 * The API server without a transport: requests in, answers out. It owns the logical clusters, what they serve, and the work
 * that goes on by itself (garbage collection, emptying namespaces). The store below it belongs to whoever opened it.
 */
import type { AnyAdmission } from "../api/index.ts";
import type { Clock, Log, Random } from "../base/index.ts";
import type { Transport } from "../client/index.ts";
import type { Cache } from "../store/index.ts";
import { createActions } from "./action.ts";
import { builtInActions } from "./actions/index.ts";
import { createAdmissions } from "./admit.ts";
import { thinAuthorizer } from "./authorize.ts";
import type { Authorizer } from "./authorize.ts";
import { createBackground } from "./background.ts";
import { createCleanup } from "./cleanup.ts";
import { createClusterRegistry } from "./clusters.ts";
import type { ProtobufDecoder } from "./decode.ts";
import { createDirectTransport } from "./direct-transport.ts";
import { createGarbageCollector } from "./garbage-collection.ts";
import { createHandler } from "./handler.ts";
import { createHousekeeping } from "./housekeeping.ts";
import { createObjectStore } from "./objects.ts";
import type { OperationDependencies } from "./operations.ts";
import { builtInPlugins } from "./plugins/index.ts";
import { createProfileLayer } from "./profiles.ts";
import type { Profile } from "./profiles.ts";
import type { ApiRequest, ApiResponse, UserInfo } from "./request.ts";
import { createWriteCounter } from "./writes.ts";
import type { WriteCounter } from "./writes.ts";
import { VERSION } from "./version.ts";
import type { VersionInfo } from "./version.ts";

export interface ApiServerOptions {
  cache: Cache;
  clock: Clock;
  random: Random;
  log: Log;
  admissions: readonly AnyAdmission[];
  profiles: Readonly<Record<string, Profile>>;
  authorizer?: Authorizer;
  /** Unset refuses protobuf bodies, with a clear text. */
  decodeProtobuf?: ProtobufDecoder;
  version?: VersionInfo;
  /** For tests: whatever is handed out is frozen. */
  freeze?: boolean;
}

export interface ApiServer {
  /** Never throws: failures are a Status. */
  handle(request: ApiRequest): Promise<ApiResponse>;
  /** Direct calls for controllers in this process, with one identity. */
  transport(user: UserInfo): Transport;
  /** Stored; adding a cluster that is there with the same profile does nothing. */
  addCluster(name: string, profile: string): Promise<void>;
  /** Removes a cluster with everything in it. */
  removeCluster(name: string): Promise<void>;
  clusters(): string[];
  readonly writes: Pick<WriteCounter, "total" | "counts">;
  /** True when nothing is on its way: every write visible, every watcher told, no work of the server's own left. */
  isQuiet(): boolean;
  close(): Promise<void>;
}

export async function createApiServer(options: ApiServerOptions): Promise<ApiServer> {
  const { cache, clock, random, log, admissions, authorizer = thinAuthorizer, version = VERSION } = options;
  const profiles = new Map(Object.entries(options.profiles).map(([name, profile]) => [name, createProfileLayer(name, profile)]));
  const knownKinds = Object.values(options.profiles).flatMap(({ customs }) => customs);
  const writes = createWriteCounter();
  const stopping = new AbortController();
  const store = createObjectStore(cache, writes);
  const clusters = createClusterRegistry({ cache, clock, profiles, knownKinds });
  const deps: OperationDependencies = { cache, store, clusters, admissions: createAdmissions(admissions), plugins: builtInPlugins, actions: createActions(builtInActions), clock, random, authorizer };
  const background = createBackground({ clock, log });
  const house = createHousekeeping({ ...deps, background, signal: stopping.signal });
  const collector = createGarbageCollector(house);
  const cleanup = createCleanup({ house, store, clusters, clock });
  let undelivered = 0;

  const stopWatching = cache.watch("/", cache.revision, (events) => {
    for (const event of events) {
      collector.observe(event);
      cleanup.observe(event);
    }
  });
  const present = cache.list("/");
  collector.load(present);
  cleanup.load(present);
  await clusters.finishRemovals();

  const handle = createHandler({ deps, log, version, stopping: stopping.signal, ...(options.decodeProtobuf && { decodeProtobuf: options.decodeProtobuf }) });
  return {
    handle,
    transport: (user) =>
      createDirectTransport({
        deps,
        user,
        handle,
        freeze: options.freeze ?? false,
        track: (change) => {
          undelivered += change;
        },
      }),
    addCluster: (name, profile) => clusters.add(name, profile),
    removeCluster: (name) => clusters.remove(name),
    clusters: () => clusters.all().map(({ name }) => name),
    writes,
    isQuiet: () => cache.isQuiet() && background.isQuiet() && undelivered === 0,
    async close() {
      stopping.abort(new Error("the API server is stopping"));
      stopWatching();
      await background.close();
      clusters.close();
    },
  };
}
