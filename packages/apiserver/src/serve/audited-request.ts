/** What the audit log records of a request of the handler: its attributes, its bodies and the stages of its response. */
import type { JsonObject } from "@flotilla/base";
import type { Status } from "@flotilla/apimachinery";
import { accessOf } from "../access/attributes.ts";
import type { Answer, Input } from "../actions/action.ts";
import type { AuditedRequest, Auditor, RunningAudit } from "../audit/auditor.ts";
import { objectIn } from "../codec/render.ts";
import type { AuditRecord } from "../request/audit-record.ts";
import type { ApiRequest, ApiResponse } from "../request/request.ts";
import { routeOf, splitCluster } from "../request/router.ts";
import { listMetadata } from "./answer.ts";

/** Parsed again, because only audited servers need it here. */
export function auditedRequest(request: ApiRequest, id: string): AuditedRequest {
  const { method, query, headers, user } = request;
  const search = query.toString();
  const common = {
    id,
    user,
    uri: search === "" ? request.path : `${request.path}?${search}`,
    userAgent: headers["user-agent"] ?? "",
    sourceIps: sourceIpsOf(request),
  };
  const target = targetOf(request.path);
  if (!target) return { ...common, cluster: "", path: request.path, verb: method.toLowerCase() };
  const { cluster, path, route } = target;
  if (route.type !== "resource") return { ...common, cluster, path, verb: method.toLowerCase() };
  return { ...common, cluster, path, version: route.version, ...accessOf(method, route, query) };
}

/** Undefined for a path that cannot be parsed; the request fails for the same reason. */
function targetOf(whole: string): { cluster: string; path: string; route: ReturnType<typeof routeOf> } | undefined {
  try {
    const { cluster, path } = splitCluster(whole);
    return { cluster, path, route: routeOf(path) };
  } catch {
    return undefined;
  }
}

/** As in Kubernetes: the addresses that proxies report, then the address of the connection. */
function sourceIpsOf({ headers, address }: ApiRequest): string[] {
  const forwarded = (headers["x-forwarded-for"] ?? "").split(",").map((text) => text.trim());
  const ips = [...forwarded, headers["x-real-ip"] ?? "", address ?? ""].filter((text) => text !== "");
  return [...new Set(ips)].slice(0, MAX_SOURCE_IPS);
}
const MAX_SOURCE_IPS = 16;

/** The input, which shows the body to the log when it is decoded. */
export function auditedInput(input: Input, audit: AuditRecord): Input {
  return {
    object() {
      const decoded = input.object();
      audit.sent(decoded.object);
      return decoded;
    },
    value() {
      const value = input.value();
      if (value !== undefined) audit.sent(value);
      return value;
    },
    patch() {
      const decoded = input.patch();
      audit.sent(decoded.value);
      return decoded;
    },
    patchType: () => input.patchType(),
  };
}

/** The answer as one object, for the log and for callers in this process. */
export function objectOf(answer: Answer): JsonObject {
  switch (answer.type) {
    case "entry":
      return objectIn(answer.entry, answer.served);
    case "object":
      return answer.object;
    default: {
      const { served, result } = answer;
      return {
        kind: served.resource.listKind,
        apiVersion: served.apiVersion,
        metadata: listMetadata(result, served),
        items: result.entries.map((entry) => objectIn(entry, served)),
      };
    }
  }
}

/** Records the end of a request: now, or when its stream ends. */
export function finishAudit(audit: RunningAudit, response: ApiResponse, status: Status | undefined): void {
  const { status: code, body, upgrade } = response;
  if (upgrade) {
    audit.started(code);
    response.upgrade = (socket, head) => {
      socket.once("close", () => audit.completed(code));
      return upgrade.call(response, socket, head);
    };
    return;
  }
  if (!("open" in body) || response.isFinite) return audit.completed(code, status);
  audit.started(code);
  response.body = {
    open(sink) {
      const stop = body.open({
        write: (chunk) => sink.write(chunk),
        onDrain: (resume) => sink.onDrain(resume),
        end() {
          audit.completed(code);
          sink.end();
        },
      });
      return () => {
        audit.completed(code);
        stop();
      };
    },
  };
}

/** Records a request whose credentials were rejected before it reached the handler. */
export function auditRejected(auditor: Auditor, request: ApiRequest, status: Status): void {
  const id = request.headers["audit-id"] || auditor.newId();
  const attempted = request.headers["authorization"] === undefined ? "" : "bearer";
  auditor.rejected(auditedRequest(request, id), attempted, status);
}
