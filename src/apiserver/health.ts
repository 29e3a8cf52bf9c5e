/** `/healthz`, `/livez` and `/readyz`. A server that answers is alive; one that is stopping refuses before it comes here. */
import type { ApiResponse } from "./request.ts";
import { textResponse } from "./respond.ts";
import type { Route } from "./router.ts";

const CHECKS = new Set(["ping", "log", "etcd"]);

export function healthResponse({ endpoint, check }: Extract<Route, { type: "health" }>, query: URLSearchParams): ApiResponse {
  if (check !== undefined) return CHECKS.has(check) ? textResponse(200, "ok") : textResponse(404, "404 page not found\n");
  if (!query.has("verbose")) return textResponse(200, "ok");
  const excluded = new Set(query.getAll("exclude"));
  const lines = [...CHECKS].map((name) => (excluded.has(name) ? `[+]${name} excluded: ok` : `[+]${name} ok`));
  return textResponse(200, `${lines.join("\n")}\n${endpoint} check passed\n`);
}
