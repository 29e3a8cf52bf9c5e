/** The API server's core on an in-memory store, for targets that need more than one of its functions. */
import { kindAdmissions, createProfiles } from "@flotilla/server";
import { createProtobufCodec } from "@flotilla/apimachinery";
import { kubernetesKinds } from "@flotilla/kubernetes";
import { createApiServer, createCache, createMemoryEngine, logicalClusterAdmission } from "@flotilla/apiserver";
import type { ApiResponse } from "@flotilla/apiserver";
import { createFakeClock, createSeededRandom, silentLog, type Log } from "@flotilla/base";

export interface CoreRequest {
  method: string;
  /** Including its query. */
  path: string;
  headers?: Record<string, string>;
  body?: string | Uint8Array;
}

export interface CoreAnswer {
  status: number;
  headers: ApiResponse["headers"];
  text: string;
  /** Errors logged while the request was processed: a bug, whatever the response was. */
  failures: readonly unknown[];
}

export interface Core {
  send(request: CoreRequest): Promise<CoreAnswer>;
}

const ADMIN = { name: "admin", groups: ["system:masters", "system:authenticated"] };

export async function createCore(): Promise<Core> {
  const failures: unknown[] = [];
  const log: Log = {
    ...silentLog,
    error: (message, fields) => void failures.push({ message, ...fields }),
    with: () => log,
  };
  const profiles = createProfiles({ rootCertificate: "", startedOn: "2024-05-01" });
  const server = await createApiServer({
    cache: await createCache(createMemoryEngine()),
    clock: createFakeClock(),
    random: createSeededRandom(1),
    log,
    admissions: [...kindAdmissions, logicalClusterAdmission(Object.keys(profiles))],
    profiles,
    protobuf: createProtobufCodec(kubernetesKinds),
  });
  await server.addCluster("hub", "hub");
  const signal = new AbortController().signal;
  return {
    async send({ method, path, headers = {}, body = "" }) {
      const [pathname = "", search = ""] = path.split("?");
      const bytes = typeof body === "string" ? Buffer.from(body) : body;
      failures.length = 0;
      const response = await server.handle({
        method,
        path: pathname,
        query: new URLSearchParams(search),
        headers: { "user-agent": "fuzz/1", ...headers },
        body: bytes,
        user: ADMIN,
        signal,
      });
      return {
        status: response.status,
        headers: response.headers,
        text: textOf(response.body),
        failures: [...failures],
      };
    },
  };
}

function textOf(body: ApiResponse["body"]): string {
  if (body instanceof Uint8Array) return Buffer.from(body).toString();
  return "open" in body ? "" : Buffer.concat(body).toString();
}
