/**
 * The web UI on the port of a hub, below `/ui`: everyone signs in with a token of the hub, and has the rights of that token.
 *
 * Its code is loaded with the first request, because most hubs are asked by programs only.
 */
import { isIP } from "node:net";
import { HUB, unavailable } from "@flotilla/apimachinery";
import type { ApiRequest, OtherPaths } from "@flotilla/apiserver";
import { systemClock, systemRandom } from "@flotilla/base";
import type { Log } from "@flotilla/base";
import type { HubConnection } from "@flotilla/cli";
import { createClient, createHttp2Transport, openUpgrade } from "@flotilla/client";
import type { Console } from "./console.ts";
import { rejectedCredentials } from "./credentials-error.ts";
import { isOfConsole } from "./page-headers.ts";

interface HubConsoleOptions {
  /** How this process connects to its own hub, and how others do; known once it listens. */
  address(): URL;
  url(): string;
  /** PEM; the authorities of the hub's certificate. */
  ca: string;
  /** Names and addresses that browsers may know the hub by, and names of a certificate that may be renewed. */
  hosts: readonly string[];
  certificateNames(): readonly string[];
  /** Whether a token is one of the hub; `from` is the address of the client. */
  knows(token: string, from: string): Promise<boolean>;
  log: Log;
}

export interface HubConsole extends OtherPaths {
  close(): Promise<void>;
}

/** There are no sessions before the code is loaded, so a body is a token at most. */
const FIRST_BODY_BYTES = 16 * 1024;

export function createHubConsole(options: HubConsoleOptions): HubConsole {
  const own = new Set(options.hosts.map((host) => (isIP(host) === 6 ? `[${host}]` : host.toLowerCase())));
  const hosts = { has: (name: string): boolean => own.has(name) || options.certificateNames().includes(name) };
  let isClosed = false;
  let loading: Promise<Console> | undefined;
  let loaded: Console | undefined;

  async function load(): Promise<Console> {
    const { createConsole } = await import("./console.ts");
    loaded = createConsole({
      signIn: {
        async connect(token, from) {
          // A connection takes the hub, which is both of its ends, some milliseconds.
          if (!(await options.knows(token, from))) throw rejectedCredentials();
          return connectWith(token, options);
        },
      },
      scheme: "https",
      hosts,
      // Users of the API know nothing about the machine of the hub.
      data: undefined,
      clock: systemClock,
      random: systemRandom,
      log: options.log,
    });
    return loaded;
  }

  return {
    owns: isOfConsole,
    bodyLimit: (request) => loaded?.bodyLimit(request) ?? FIRST_BODY_BYTES,
    async handle(request: ApiRequest) {
      if (isClosed) throw unavailable("the server is stopping");
      loading ??= load();
      // The next request tries again.
      loading.catch(() => (loading = undefined));
      return (await loading).handle(request);
    },
    async close() {
      isClosed = true;
      await loaded?.close();
    },
  };
}

/** Like any other client, so that authentication, roles, fairness and audit are those of the API. */
function connectWith(token: string, { address, url, ca }: HubConsoleOptions): HubConnection {
  const connection = { server: address(), ca, token };
  const transport = createHttp2Transport({ ...connection, cluster: { root: HUB }, userAgent: "flotilla-ui" });
  return {
    client: createClient({ transport, fieldManager: "flotilla-ui" }),
    server: url(),
    upgrade: (request, signal) => openUpgrade({ ...connection, userAgent: "flotilla-ui" }, request, signal),
    close: () => transport.close(),
  };
}
