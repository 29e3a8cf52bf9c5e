import { expect, test } from "vitest";
import { FlotillaError, UsageError } from "../base/index.ts";
import { UnreachableError } from "../client/index.ts";
import { forbidden, notFound, pathNotFound, unauthorized } from "../machinery/index.ts";
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
    want: { code: string; message: string; exitCode?: number };
  }
> = {
  "our own errors say it themselves": {
    error: new FlotillaError("Unjoin", "paris is still there"),
    want: { code: "Unjoin", message: "paris is still there" },
  },
  "wrong usage has its exit code": {
    error: new UsageError("NAME is missing"),
    failureCode: 3,
    want: { code: "Usage", message: "NAME is missing", exitCode: 2 },
  },
  "a command may fail with another exit code": {
    error: new FlotillaError("Refused", "no"),
    failureCode: 2,
    want: { code: "Refused", message: "no", exitCode: 2 },
  },
  "a file that is not there is told in words": {
    error: new FlotillaError("File", "reading web.yaml", {
      cause: system("ENOENT", "ENOENT: no such file or directory, open 'web.yaml'"),
    }),
    want: { code: "File", message: "reading web.yaml: it does not exist" },
  },
  "behind advice the cause stands in brackets": {
    error: new FlotillaError("DataDirectory", "making /etc/passwd: a file is in the way; choose another", {
      cause: system("EEXIST", "EEXIST: file already exists"),
    }),
    want: {
      code: "DataDirectory",
      message: "making /etc/passwd: a file is in the way; choose another (it exists already)",
    },
  },
  "a full disk is told in words": {
    error: new FlotillaError("File", "writing a.kubeconfig", {
      cause: system("ENOSPC", "ENOSPC: no space left on device, write"),
    }),
    want: { code: "File", message: "writing a.kubeconfig: the disk is full" },
  },
  "causes that nobody knows keep their words": {
    error: new FlotillaError("Store", "opening the store", { cause: new Error("file is not a database") }),
    want: { code: "Store", message: "opening the store: file is not a database" },
  },
  "a hub that does not run can be started": {
    error: new UnreachableError("listing clusters from https://127.0.0.1:6443: nothing listens there", {
      cause: refused,
    }),
    kubeconfigs: ["/home/ann/.flotilla/hub.kubeconfig"],
    want: {
      code: "Unreachable",
      message:
        "listing clusters from https://127.0.0.1:6443: nothing listens there (ECONNREFUSED). To start the hub of /home/ann/.flotilla/hub.kubeconfig: 'flotilla up'",
    },
  },
  "a hub that keeps its data elsewhere is started there": {
    error: new UnreachableError("listing clusters: nothing listens there", { cause: refused }),
    kubeconfigs: ["fleet/hub.kubeconfig"],
    want: {
      code: "Unreachable",
      message:
        "listing clusters: nothing listens there (ECONNREFUSED). To start the hub of fleet/hub.kubeconfig: 'flotilla up --data fleet'",
    },
  },
  "a server of another kubeconfig is nobody's to start": {
    error: new UnreachableError("listing clusters: nothing listens there", { cause: refused }),
    kubeconfigs: ["/home/ann/.kube/config"],
    want: { code: "Unreachable", message: "listing clusters: nothing listens there (ECONNREFUSED)" },
  },
  "credentials that are refused are named by their file": {
    error: unauthorized(),
    kubeconfigs: ["old.kubeconfig"],
    want: {
      code: "Unauthorized",
      message:
        "Unauthorized: the server does not accept the credentials in old.kubeconfig; they are wrong or have expired. Take a newer kubeconfig, and name it with --kubeconfig FILE",
    },
  },
  "credentials are told of also behind what was being done": {
    error: new FlotillaError("Discovery", "asking the hub what it serves", { cause: unauthorized() }),
    kubeconfigs: ["old.kubeconfig"],
    want: {
      code: "Discovery",
      message:
        "asking the hub what it serves: Unauthorized: the server does not accept the credentials in old.kubeconfig; they are wrong or have expired. Take a newer kubeconfig, and name it with --kubeconfig FILE",
    },
  },
  "a missing right is for somebody else to give": {
    error: forbidden(
      { group: "", resource: "secrets" },
      "",
      'User "eve" cannot list resource "secrets" in API group "" at the cluster scope',
    ),
    kubeconfigs: ["eve.kubeconfig"],
    want: {
      code: "Forbidden",
      message:
        'secrets is forbidden: User "eve" cannot list resource "secrets" in API group "" at the cluster scope. Ask whoever runs the server for this right, or use another kubeconfig than eve.kubeconfig',
    },
  },
  "a cluster that is no hub is suspected": {
    error: pathNotFound(),
    kubeconfigs: ["kind.yaml"],
    want: {
      code: "NotFound",
      message:
        "the server could not find the requested resource; is kind.yaml the kubeconfig of a hub? Name the hub's with --kubeconfig FILE",
    },
  },
  "an object that is not there is no such case": {
    error: notFound({ group: "apps", resource: "deployments" }, "web"),
    kubeconfigs: ["hub.kubeconfig"],
    want: { code: "NotFound", message: 'deployments.apps "web" not found' },
  },
  "what was stopped says no more than that": {
    error: new FlotillaError("Kubectl", "kubectl get pods", {
      cause: new FlotillaError("Stopped", "stopped by Ctrl-C"),
    }),
    want: { code: "Stopped", message: "stopped by Ctrl-C" },
  },
  "a mistake of ours is called one": {
    error: new TypeError("Cannot read properties of undefined"),
    want: {
      code: "Invariant",
      message:
        "Cannot read properties of undefined; this is a mistake in Flotilla: FLOTILLA_DEBUG=1 shows where, please report it",
    },
  },
};
for (const [behaviour, { error, kubeconfigs = [], failureCode, want }] of Object.entries(cases)) {
  test(behaviour, () => {
    expect(describeFailure(error, { kubeconfigs, defaultData: "/home/ann/.flotilla", failureCode })).toEqual({
      exitCode: 1,
      ...want,
    });
  });
}
