# Checks of one kubectl. Arguments: the program, a namespace, a directory for files.
K="$1 --namespace $2"; NS=$2; DIR=$3
check() { name=$1; shift; if out=$("$@" 2>&1); then echo "ok $name"; else echo "failed $name: $(echo "$out" | tail -1)"; fi; }
same() { [ "$1" = "$2" ] || { echo "have '$1', want '$2'"; return 1; }; }

check "create namespace" $1 create namespace $NS
cat > $DIR/web.yaml <<'Y'
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  replicas: 2
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec: {containers: [{name: c, image: "web:1", ports: [{containerPort: 80}]}]}
Y
check "apply" $K apply -f $DIR/web.yaml
check "apply again" $K apply -f $DIR/web.yaml
check "server-side apply" $K apply --server-side --force-conflicts -f $DIR/web.yaml
check "rollout status" $K rollout status deployment/web --timeout=60s
check "get table" sh -c "$K get deployments -o wide | grep -q 2/2"
check "get by label" sh -c "$K get pods -l app=web -o name | grep -c pod/ | grep -qx 2"
check "scale" $K scale deployment/web --replicas=1
check "set image" $K set image deployment/web c=web:2
check "rollout status after the update" $K rollout status deployment/web --timeout=60s
check "rollout undo" $K rollout undo deployment/web
check "rollout status after the undo" $K rollout status deployment/web --timeout=60s
check "patch" $K patch deployment web -p '{"metadata":{"labels":{"a":"b"}}}'
check "label and annotate" sh -c "$K label deployment/web x=y && $K annotate deployment/web n=m"
check "create configmap" $K create configmap data --from-literal=a=b
check "create secret" $K create secret generic secret --from-literal=a=b
check "expose" $K expose deployment web --port 80
check "explain" sh -c "$K explain deployment.spec.replicas | grep -qi replicas"
check "api-resources" sh -c "$K api-resources | grep -q flowschemas"
check "auth can-i" $K auth can-i create pods
POD=$($K get pods -l app=web -o jsonpath='{.items[0].metadata.name}')
check "exec" sh -c "$K exec $POD -- hostname | grep -qx $POD"
check "exec with input" sh -c "echo piped | $K exec -i $POD -- cat | grep -qx piped"
check "exit code of exec" sh -c "$K exec $POD -- false; [ \$? = 1 ]"
check "logs" $K logs $POD
echo content > $DIR/file
check "cp to a pod" $K cp $DIR/file $POD:/tmp/file
check "cp from a pod" sh -c "$K cp $POD:/tmp/file $DIR/back && grep -qx content $DIR/back"
check "port-forward" sh -c "$K port-forward pod/$POD :80 > $DIR/forward 2>&1 & p=\$!; for i in 1 2 3 4 5 6 7 8; do sleep 0.5; port=\$(sed -n 's/.*127.0.0.1:\([0-9]*\).*/\1/p' $DIR/forward | head -1); [ -n \"\$port\" ] && break; done; curl -s -m 5 http://127.0.0.1:\$port/ | grep -q simulated; r=\$?; kill \$p; exit \$r"
check "wait" $K wait --for=condition=Available deployment/web --timeout=60s
check "diff" sh -c "$K diff -f $DIR/web.yaml; [ \$? -le 1 ]"
check "delete" $K delete deployment web --timeout=60s
check "delete namespace" $1 delete namespace $NS --timeout=60s
