import { expect, test } from "vitest";
import { FlotillaError, UsageError } from "@flotilla/base";
import { UnreachableError } from "@flotilla/client";
import { forbidden, notFound, pathNotFound, unauthorized } from "@flotilla/apimachinery";
import type { LastStart } from "@flotilla/cli";
import { describeFailure } from "./failure.ts";

const system = (code: string, message: string): Error => Object.assign(new Error(message), { code, syscall: "open" });
const refused = Object.assign(new Error("connect ECONNREFUSED 127.0.0.1:6443"), {
  code: "ECONNREFUSED",
  syscall: "connect",
});

const cases: Record<
  string,
  {
    error: unknown;
    kubeconfigs?: string[];
    failureCode?: number;
    lastStart?: LastStart;
    want: { code: string; message: string; exitCode?: number };
  }
> = {
  "Flotilla's own errors are printed unchanged": {
    error: new FlotillaError("Unjoin", "paris is still there"),
    want: { code: "Unjoin", message: "paris is still there" },
  },
  "a usage error has its own exit code": {
    error: new UsageError("NAME is missing"),
    failureCode: 3,
    want: { code: "Usage", message: "NAME is missing", exitCode: 2 },
  },
  "a command may set another failure exit code": {
    error: new FlotillaError("Rejected", "no"),
    failureCode: 2,
    want: { code: "Rejected", message: "no", exitCode: 2 },
  },
  "a missing file is explained": {
    error: new FlotillaError("File", "reading web.yaml", {
      cause: system("ENOENT", "ENOENT: no such file or directory, open 'web.yaml'"),
    }),
    want: { code: "File", message: "reading web.yaml: it does not exist" },
  },
  "after advice, the cause is in parentheses": {
    error: new FlotillaError("DataDirectory", "making /etc/passwd: a file is in the way; choose another", {
      cause: system("EEXIST", "EEXIST: file already exists"),
    }),
    want: {
      code: "DataDirectory",
      message: "making /etc/passwd: a file is in the way; choose another (it already exists)",
    },
  },
  "a full disk is explained": {
    error: new FlotillaError("File", "writing a.kubeconfig", {
      cause: system("ENOSPC", "ENOSPC: no space left on device, write"),
    }),
    want: { code: "File", message: "writing a.kubeconfig: the disk is full" },
  },
  "unknown causes keep their message": {
    error: new FlotillaError("Store", "opening the store", { cause: new Error("file is not a database") }),
    want: { code: "Store", message: "opening the store: file is not a database" },
  },
  "an unreachable local hub comes with the command that starts it": {
    error: new UnreachableError("listing clusters from https://127.0.0.1:6443: nothing listens there", {
      cause: refused,
    }),
    kubeconfigs: ["/home/ann/.flotilla/hub.kubeconfig"],
    want: {
      code: "Unreachable",
      message:
        "listing clusters from https://127.0.0.1:6443: nothing listens there (ECONNREFUSED). To start the hub " +
        "of /home/ann/.flotilla/hub.kubeconfig: 'flotilla up'",
    },
  },
  "a hub that ran as an API server alone is started as such, with its data directory and port": {
    error: new UnreachableError("GET /readyz at 127.0.0.1:7443: connection refused", { cause: refused }),
    kubeconfigs: ["hub/hub.kubeconfig"],
    lastStart: { command: "apiserver", port: 7443 },
    want: {
      code: "Unreachable",
      message:
        "GET /readyz at 127.0.0.1:7443: connection refused (ECONNREFUSED). To start the hub of hub/hub.kubeconfig: 'flotilla apiserver --data hub --port 7443'",
    },
  },
  "without a record of its start the port is that of the request": {
    error: new UnreachableError("GET /readyz at 127.0.0.1:7443: connection refused", { cause: refused }),
    kubeconfigs: ["hub/hub.kubeconfig"],
    want: {
      code: "Unreachable",
      message:
        "GET /readyz at 127.0.0.1:7443: connection refused (ECONNREFUSED). To start the hub of hub/hub.kubeconfig: 'flotilla up --data hub --port 7443'",
    },
  },
  "a hub with another data directory and port is started with both": {
    error: new UnreachableError("listing clusters from https://127.0.0.1:7443: nothing listens there", {
      cause: refused,
    }),
    kubeconfigs: ["fleet/hub.kubeconfig"],
    want: {
      code: "Unreachable",
      message:
        "listing clusters from https://127.0.0.1:7443: nothing listens there (ECONNREFUSED). To start the hub " +
        "of fleet/hub.kubeconfig: 'flotilla up --data fleet --port 7443'",
    },
  },
  "an unreachable server of another kubeconfig gets no start command": {
    error: new UnreachableError("listing clusters: nothing listens there", { cause: refused }),
    kubeconfigs: ["/home/ann/.kube/config"],
    want: { code: "Unreachable", message: "listing clusters: nothing listens there (ECONNREFUSED)" },
  },
  "rejected credentials name their kubeconfig": {
    error: unauthorized(),
    kubeconfigs: ["old.kubeconfig"],
    want: {
      code: "Unauthorized",
      message:
        "Unauthorized: the server rejects the credentials in old.kubeconfig; they are invalid or have expired. " +
        "Get a newer kubeconfig, and specify it with --kubeconfig FILE",
    },
  },
  "rejected credentials are also explained inside another error": {
    error: new FlotillaError("Discovery", "reading the hub's API discovery", { cause: unauthorized() }),
    kubeconfigs: ["old.kubeconfig"],
    want: {
      code: "Discovery",
      message:
        "reading the hub's API discovery: Unauthorized: the server rejects the credentials in old.kubeconfig; " +
        "they are invalid or have expired. Get a newer kubeconfig, and specify it with --kubeconfig FILE",
    },
  },
  "a missing permission refers to the administrator": {
    error: forbidden(
      { group: "", resource: "secrets" },
      "",
      'User "eve" cannot list resource "secrets" in API group "" at the cluster scope',
    ),
    kubeconfigs: ["eve.kubeconfig"],
    want: {
      code: "Forbidden",
      message:
        'secrets is forbidden: User "eve" cannot list resource "secrets" in API group "" at the cluster scope. ' +
        "Ask the administrator of the server for this permission, or use a kubeconfig other than eve.kubeconfig",
    },
  },
  "a webhook that denies an object is not a missing permission": {
    error: forbidden(
      { group: "policy.karmada.io", resource: "propagationpolicies" },
      "web",
      'admission webhook "propagationpolicy.karmada.io" denied the request: User "eve" is not the problem',
    ),
    kubeconfigs: ["eve.kubeconfig"],
    want: {
      code: "Forbidden",
      message:
        'propagationpolicies.policy.karmada.io "web" is forbidden: admission webhook ' +
        '"propagationpolicy.karmada.io" denied the request: User "eve" is not the problem',
    },
  },
  "an exceeded quota is not a missing permission": {
    error: forbidden({ group: "", resource: "pods" }, "web", "exceeded quota: small"),
    kubeconfigs: ["eve.kubeconfig"],
    want: { code: "Forbidden", message: 'pods "web" is forbidden: exceeded quota: small' },
  },
  "a cluster that is not a hub is suspected": {
    error: pathNotFound(),
    kubeconfigs: ["kind.yaml"],
    want: {
      code: "NotFound",
      message:
        "the server could not find the requested resource; is kind.yaml the kubeconfig of a hub? Specify the hub's with --kubeconfig FILE",
    },
  },
  "a missing object is not mistaken for a wrong server": {
    error: notFound({ group: "apps", resource: "deployments" }, "web"),
    kubeconfigs: ["hub.kubeconfig"],
    want: { code: "NotFound", message: 'deployments.apps "web" not found' },
  },
  "an interrupted command reports only that": {
    error: new FlotillaError("Kubectl", "kubectl get pods", {
      cause: new FlotillaError("Stopped", "interrupted by Ctrl-C"),
    }),
    want: { code: "Stopped", message: "interrupted by Ctrl-C" },
  },
  "an unexpected error is reported as a bug": {
    error: new TypeError("Cannot read properties of undefined"),
    want: {
      code: "Invariant",
      message:
        "Cannot read properties of undefined; this is a bug in Flotilla: set FLOTILLA_DEBUG=1 for a stack trace, and please report it",
    },
  },
};
for (const [behaviour, { error, kubeconfigs = [], failureCode, lastStart, want }] of Object.entries(cases)) {
  test(behaviour, () => {
    expect(describeFailure(error, { kubeconfigs, defaultData: "/home/ann/.flotilla", failureCode, lastStart })).toEqual(
      {
        exitCode: 1,
        ...want,
      },
    );
  });
}
