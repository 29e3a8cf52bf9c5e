/**
 * The API server of `packages/apiserver/src/test-server.ts` with the rules of every kind that `flotilla up` serves. Tests of
 * packages that do not import the API server, and those of the composition, send their requests to it.
 */
import { createTestServer as createBareServer } from "@flotilla/apiserver/test-server.ts";
import type { TestServer, TestServerOptions } from "@flotilla/apiserver/test-server.ts";
import { kindAdmissions } from "@flotilla/server";

export {
  ADDRESS_ANNOTATION,
  ADMIN,
  holdCommits,
  makeConfigMap,
  makeDefinition,
  MERGE,
  PROFILE,
  settleTicks,
} from "@flotilla/apiserver/test-server.ts";
export type { Answered, TestServer } from "@flotilla/apiserver/test-server.ts";

export const createTestServer = (options: TestServerOptions = {}): Promise<TestServer> =>
  createBareServer({ admissions: kindAdmissions, ...options });
