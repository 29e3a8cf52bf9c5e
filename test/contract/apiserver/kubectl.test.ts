/** Stock kubectl commands against each server. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { createCommand, noCommands } from "../../programs/command-line.ts";
import type { CommandLine, Ran } from "../../programs/command-line.ts";
import { makeConfigMap, makeDeployment } from "./objects.ts";
import { NAMESPACE, contract } from "../../programs/api-servers.ts";

const yaml = (object: object): string => JSON.stringify(object);
const deployment = (name: string, spec: object = {}, metadata: object = {}): object =>
  makeDeployment(name, spec, { namespace: NAMESPACE, ...metadata });

contract(
  "kubectl",
  (subject) => {
    let command: CommandLine;
    beforeAll(() => {
      command = createCommand("kubectl", subject.kubeconfig);
    });
    afterAll(() => command.remove());

    const run = (args: string, input?: object): Promise<Ran> =>
      command.run(["-n", NAMESPACE, ...args.split(" ")], input && yaml(input));
    /** Its output; throws if kubectl fails. */
    const ok = async (args: string, input?: object): Promise<string> => {
      const { code, stdout, stderr } = await run(args, input);
      expect(code, `kubectl ${args}: ${stderr}`).toBe(0);
      return stdout.trim();
    };

    test("apply creates, configures, and reports unchanged", async () => {
      expect(await ok("apply -f -", deployment("applied", { replicas: 1 }))).toBe("deployment.apps/applied created");
      expect(await ok("apply -f -", deployment("applied", { replicas: 2 }))).toBe("deployment.apps/applied configured");
      expect(await ok("apply -f -", deployment("applied", { replicas: 2 }))).toBe("deployment.apps/applied unchanged");
      expect(await ok("get deployment applied -o jsonpath={.spec.replicas}")).toBe("2");
    });

    test("apply rejects a misspelt field before anything is stored", async () => {
      const { code, stderr } = await run("apply -f -", deployment("misspelt", { replica: 1 }));

      expect([code, stderr]).toEqual([
        1,
        expect.stringContaining('strict decoding error: unknown field "spec.replica"'),
      ]);
    });

    test("apply --server-side migrates from client-side apply, and a second manager gets a conflict", async () => {
      await ok("apply -f -", deployment("sides", { replicas: 1 }));

      expect(await ok("apply --server-side -f -", deployment("sides", { replicas: 2 }))).toBe(
        "deployment.apps/sides serverside-applied",
      );
      const { code, stderr } = await run(
        "apply --server-side --field-manager=other -f -",
        deployment("sides", { replicas: 3 }),
      );

      expect([code, stderr]).toEqual([1, expect.stringMatching(/conflict with "kubectl".*\.spec\.replicas/s)]);
    });

    test("diff shows the changes of an apply, and changes nothing", async () => {
      await ok("apply -f -", deployment("differing", { replicas: 1 }));

      const { code, stdout } = await run("diff -f -", deployment("differing", { replicas: 7 }));

      expect([code, stdout]).toEqual([1, expect.stringMatching(/^-\s+replicas: 1\n\+\s+replicas: 7$/m)]);
      expect(await ok("get deployment differing -o jsonpath={.spec.replicas}")).toBe("1");
    });

    test("--dry-run=server prints the same result as a real run", async () => {
      expect(await ok("create configmap rehearsed --from-literal=a=1 --dry-run=server")).toBe(
        "configmap/rehearsed created (server dry run)",
      );
      expect((await run("get configmap rehearsed")).stderr).toContain('configmaps "rehearsed" not found');
    });

    test("create sends protobuf for built-in kinds", async () => {
      expect(await ok("create namespace typed")).toBe("namespace/typed created");
      expect(await ok("create configmap typed --from-literal=colour=blue")).toBe("configmap/typed created");
      expect(await ok("create secret generic typed --from-literal=password=secret")).toBe("secret/typed created");
      expect(await ok("create deployment typed --image=registry.example.com/a:1 --replicas=0")).toBe(
        "deployment.apps/typed created",
      );
      expect(await ok("create service clusterip typed --tcp=80:8080")).toBe("service/typed created");
      expect(await ok("create job typed --image=registry.example.com/a:1")).toBe("job.batch/typed created");
      expect(await ok("get configmap typed -o jsonpath={.data.colour}")).toBe("blue");
      expect(await ok("get deployment typed -o jsonpath={.spec.replicas}")).toBe("0");
    });

    test("kubectl get prints the server's table, wide and for several kinds at once", async () => {
      await ok("create service nodeport tabled --tcp=80:8080");

      expect(await ok("get service tabled")).toMatch(
        /^NAME +TYPE +CLUSTER-IP +EXTERNAL-IP +PORT\(S\) +AGE\ntabled +NodePort +10\.\S+ +<none> +80:3\d{4}\/TCP +\d+s$/,
      );
      expect(await ok("get service tabled -o wide")).toMatch(/AGE +SELECTOR\n.*app=tabled$/);
      expect(await ok("get services,configmaps -o name")).toContain("configmap/kube-root-ca.crt");
      expect(await ok("get all")).toContain("service/tabled");
    });

    test("kubectl get -w prints later changes", async () => {
      const following = command.follow(["-n", NAMESPACE, "get", "configmaps", "-w", "-l", "watched=yes"]);
      try {
        await ok("create -f -", makeConfigMap("followed", {}, { labels: { watched: "yes" } }));
        expect(await following.line(/^followed +0 +/)).toBeTruthy();
        await ok('patch configmap followed --type=merge -p {"data":{"a":"1"}}');

        expect(await following.line(/^followed +1 +/)).toBeTruthy();
      } finally {
        await following.stop();
      }
    });

    test("wait works for a condition, a field and a deletion", async () => {
      await ok("create -f -", deployment("awaited", { replicas: 0 }));
      const condition = ok("wait deployment/awaited --for=condition=Available --timeout=20s");
      const field = ok("wait deployment/awaited --for=jsonpath={.spec.replicas}=3 --timeout=20s");
      const status = { status: { conditions: [{ type: "Available", status: "True", reason: "Test", message: "" }] } };
      await subject.api.patch("strategic", `/apis/apps/v1/namespaces/${NAMESPACE}/deployments/awaited/status`, status);
      await ok("scale deployment awaited --replicas=3");

      expect(await condition).toBe("deployment.apps/awaited condition met");
      expect(await field).toBe("deployment.apps/awaited condition met");
      const deletion = ok("wait deployment/awaited --for=delete --timeout=20s");
      await ok("delete deployment awaited --wait=false");
      await deletion;
    });

    test("scale uses the scale subresource", async () => {
      await ok("create -f -", deployment("resized", { replicas: 1 }));

      expect(await ok("scale deployment/resized --replicas=4 --current-replicas=1")).toBe(
        "deployment.apps/resized scaled",
      );
      expect((await run("scale deployment/resized --replicas=5 --current-replicas=1")).stderr).toContain(
        "Expected replicas to be 1, was 4",
      );
    });

    test("label, annotate, patch and set change an object", async () => {
      await ok("create -f -", deployment("edited"));

      expect(await ok("label deployment edited tier=web")).toBe("deployment.apps/edited labeled");
      expect((await run("label deployment edited tier=db")).stderr).toContain(
        "already has a value (web), and --overwrite is false",
      );
      expect(await ok("label deployment edited tier=db --overwrite")).toBe("deployment.apps/edited labeled");
      expect(await ok("annotate deployment edited example.com/note=yes")).toBe("deployment.apps/edited annotated");
      expect(await ok("annotate deployment edited example.com/note-")).toBe("deployment.apps/edited annotated");
      expect(
        await ok(
          'patch deployment edited -p {"spec":{"template":{"spec":{"containers":[{"name":"main","image":"registry.example.com/app:2"}]}}}}',
        ),
      ).toBe("deployment.apps/edited patched");
      expect(
        await ok('patch deployment edited --type=json -p [{"op":"replace","path":"/spec/replicas","value":0}]'),
      ).toBe("deployment.apps/edited patched");
      expect(await ok("set image deployment/edited main=registry.example.com/app:3")).toBe(
        "deployment.apps/edited image updated",
      );
      expect(await ok("set env deployment/edited COLOUR=blue")).toBe("deployment.apps/edited env updated");
      expect(
        await ok(
          "get deployment edited -o jsonpath={.metadata.labels.tier}/{.spec.replicas}/{.spec.template.spec." +
            "containers[0].image}/{.spec.template.spec.containers[0].env[0].value}",
        ),
      ).toBe("db/0/registry.example.com/app:3/blue");
    });

    test("replace fails with a stale resourceVersion", async () => {
      await ok("create -f -", makeConfigMap("replaced", { a: "1" }));

      expect(await ok("replace -f -", makeConfigMap("replaced", { a: "2" }))).toBe("configmap/replaced replaced");
      expect(
        (await run("replace -f -", makeConfigMap("replaced", { a: "3" }, { resourceVersion: "1" }))).stderr,
      ).toContain("the object has been modified");
    });

    for (const policy of ["background", "foreground", "orphan"]) {
      test(`delete --cascade=${policy} applies the propagation policy`, async () => {
        const parent = JSON.parse(await ok("create -o json -f -", makeConfigMap(`parent-${policy}`))) as {
          metadata: { uid: string };
        };
        await ok(
          "create -f -",
          makeConfigMap(
            `child-${policy}`,
            {},
            {
              ownerReferences: [
                {
                  apiVersion: "v1",
                  kind: "ConfigMap",
                  name: `parent-${policy}`,
                  uid: parent.metadata.uid,
                  blockOwnerDeletion: true,
                },
              ],
            },
          ),
        );

        expect(await ok(`delete configmap parent-${policy} --cascade=${policy} --timeout=20s`)).toContain(
          `configmap "parent-${policy}" deleted`,
        );
        if (policy === "background") await ok(`wait configmap/child-${policy} --for=delete --timeout=20s`);

        const left = await run(`get configmap child-${policy} -o name`);
        expect(left.stdout.trim() || left.stderr.trim()).toBe(
          policy === "orphan"
            ? `configmap/child-${policy}`
            : `Error from server (NotFound): configmaps "child-${policy}" not found`,
        );
      });
    }

    test("delete takes a selector, all of a kind, and a grace period", async () => {
      await ok("create -f -", makeConfigMap("swept-a", {}, { labels: { swept: "yes" } }));
      await ok("create -f -", makeConfigMap("swept-b", {}, { labels: { swept: "yes" } }));
      await ok("run swept --image=registry.example.com/a:1");

      expect((await ok("delete configmap -l swept=yes")).split("\n")).toHaveLength(2);
      expect(await ok("delete pod swept --grace-period=0 --force")).toContain('pod "swept" force deleted');
    });

    test("explain reads the server's schema", async () => {
      expect(await ok("explain deployment.spec.replicas")).toMatch(/FIELD: replicas <integer>/);
      expect(await ok("explain pod.spec.containers --recursive")).toContain("imagePullPolicy");
    });

    test("api-resources, api-versions, version and cluster-info print the server's discovery", async () => {
      expect(await ok("api-resources --api-group=apps -o name")).toBe(
        "controllerrevisions.apps\ndaemonsets.apps\ndeployments.apps\nreplicasets.apps\nstatefulsets.apps",
      );
      expect((await ok("api-versions")).split("\n")).toEqual(expect.arrayContaining(["v1", "apps/v1", "batch/v1"]));
      expect(await ok("version")).toMatch(/Server Version: v1\.36\./);
      expect(await ok("cluster-info")).toContain("Kubernetes control plane");
      expect(await ok("get --raw /readyz")).toBe("ok");
    });

    test("roles are created, listed with auth can-i, and used with --as", async () => {
      expect(await ok("create role reader --verb=get,list --resource=configmaps")).toBe(
        "role.rbac.authorization.k8s.io/reader created",
      );
      expect(await ok("create rolebinding reader --role=reader --user=ann")).toBe(
        "rolebinding.rbac.authorization.k8s.io/reader created",
      );
      expect(await ok("create clusterrole lister --verb=list --resource=nodes")).toBe(
        "clusterrole.rbac.authorization.k8s.io/lister created",
      );
      expect(await ok("create clusterrolebinding lister --clusterrole=lister --group=readers")).toBe(
        "clusterrolebinding.rbac.authorization.k8s.io/lister created",
      );

      expect(await ok("get configmaps --as=ann -o name")).toContain("configmap/kube-root-ca.crt");
      expect((await run("get secrets --as=ann")).stderr).toContain('User "ann" cannot list resource "secrets"');
      expect(await ok("get nodes --as=bob --as-group=readers")).toBeDefined();
      expect(await ok("auth can-i list configmaps --as=ann")).toBe("yes");
      expect((await run("auth can-i delete configmaps --as=ann")).stdout.trim()).toBe("no");
      expect(await ok("auth can-i --list --as=ann")).toMatch(/^configmaps +\[\] +\[\] +\[get list\]$/m);
      expect(await ok("auth whoami --as=ann -o jsonpath={.status.userInfo.username}")).toBe("ann");
    });

    test("create token creates a valid token", async () => {
      await ok("create serviceaccount robot");

      const token = await ok("create token robot --duration=20m");

      const whoami = await subject.connect({ token }).create("/apis/authentication.k8s.io/v1/selfsubjectreviews", {});
      expect(whoami.body.status).toMatchObject({ userInfo: { username: `system:serviceaccount:${NAMESPACE}:robot` } });
    });

    test("run, expose and autoscale create their objects", async () => {
      expect(await ok("run solo --image=registry.example.com/a:1 --port=8080 --labels=app=solo")).toBe(
        "pod/solo created",
      );
      expect(await ok("expose pod solo --port=80 --target-port=8080")).toBe("service/solo exposed");
      expect(await ok("get service solo -o jsonpath={.spec.selector.app}/{.spec.ports[0].targetPort}")).toBe(
        "solo/8080",
      );
      await ok("create -f -", deployment("auto"));
      expect(await ok("autoscale deployment auto --max=3 --cpu=50%")).toBe(
        "horizontalpodautoscaler.autoscaling/auto autoscaled",
      );
      expect(await ok("describe pod solo")).toMatch(/^Name: +solo$/m);
    });

    test("a namespace is created, used and deleted with everything in it", async () => {
      await ok("create namespace passing");
      await ok("create configmap inside --from-literal=a=1 --namespace=passing");

      expect(await ok("delete namespace passing --timeout=20s")).toBe('namespace "passing" deleted');
      expect((await run("get configmap inside --namespace=passing")).stderr).toContain(
        'namespaces "passing" not found',
      );
    });

    test("errors have the wording of Kubernetes", async () => {
      expect((await run("get nothings")).stderr).toContain(`the server doesn't have a resource type "nothings"`);
      expect((await run("get deployment absent")).stderr).toContain(
        'Error from server (NotFound): deployments.apps "absent" not found',
      );
      expect((await run("create namespace default")).stderr).toContain(
        'Error from server (AlreadyExists): namespaces "default" already exists',
      );
    });
  },
  { skip: noCommands },
);

contract(
  "kubectl on running workloads",
  (subject) => {
    let command: CommandLine;
    beforeAll(() => {
      command = createCommand("kubectl", subject.kubeconfig);
    });
    afterAll(() => command.remove());

    test("rollout status, history and undo follow a Deployment with running pods", async () => {
      const run = async (args: string, input?: object): Promise<string> => {
        const { code, stdout, stderr } = await command.run(["-n", NAMESPACE, ...args.split(" ")], input && yaml(input));
        expect(code, `kubectl ${args}: ${stderr}`).toBe(0);
        return stdout.trim();
      };
      await run("apply -f -", deployment("web", { replicas: 2 }));

      expect(await run("rollout status deployment/web --timeout=20s")).toContain(
        'deployment "web" successfully rolled out',
      );
      await run("set image deployment/web main=registry.example.com/app:2");
      expect(await run("rollout status deployment/web --timeout=20s")).toContain(
        'deployment "web" successfully rolled out',
      );
      expect(await run("rollout history deployment/web")).toMatch(/^1 .*\n2 /m);
      await run("rollout undo deployment/web");
      await run("rollout status deployment/web --timeout=20s");
      expect(await run("get deployment web -o jsonpath={.spec.template.spec.containers[0].image}")).toBe(
        "registry.example.com/app:1",
      );
      expect(await run("get pods -l app=web --field-selector=status.phase=Running -o name")).toMatch(
        /^pod\/web-\S+\npod\/web-\S+/,
      );
    });
  },
  { nodes: 2, only: "flotilla", skip: noCommands },
);
