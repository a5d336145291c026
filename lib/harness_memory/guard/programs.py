"""What the guard knows of each program: one row a program, in ROWS.

    names | options and operands | effect | effect …

Options: `-o=K` takes a value of kind K, `-n=` a value that says nothing, `-i:w` makes every operand of kind w; `1dash`:
words like `-chdir` are one option. Operands: one kind each, `r*` any number. The kinds:

    r w d   a path that is read, written, deleted         l   only its name, size or hash is shown
    u       a path that the tool uses and does not show   m   its mode or owner changes
    o a     moved away, linked to                         n   made, if it is missing
    t       a folder that is written into                 D   where the program goes first
    x       the rest is a command                         s S text for a shell, S: with all the rest
    c f F   code, a file of code, of shell text           g G text; G: instead of the first operand g?
    b e q   data, a likely path that is sent; statements  k=K a key and a value of kind K
    h M B   an address, its method; a mount               v P a command of an editor, a module of Python
    I A     of xargs: the place, a file of words          X + all words up to the next option, two words

Effects: `rule verb verb +flag,flag !excuse,excuse ~program`. The verbs are the first operands, in order, values of
options set aside; `a,b` is either, `a*` begins so, `@` a word that destroys (DESTROYS) among the first four; `??`: an
operand is unknown. Instead of a rule: `run` or `in` (a container): after these verbs, and one operand for each `-`,
stands a command. `--help` and dry runs excuse all.
"""

from __future__ import annotations

from .shell import UNKNOWN

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

ROWS = """
cat tac nl less more bat batcat most view zcat bzcat xzcat glow mdcat ccat pygmentize rev fold fmt pr expand hd | r*
head tail | -n= -c= --lines= --bytes= r*
od xxd hexdump strings | -n= -N= -s= -l= -t= -A= -c= r*
base64 gbase64 base32 | -w= --wrap= -i=r -o=w r*
sort | -k= -t= -o=w -T= -S= --output=w --parallel= r*
uniq | -f= -s= -w= r w
cut | -d= -f= -c= -b= --delimiter= --fields= r*
tr | g*
paste column join comm | -d= -t= -s= -c= -o= -1= -2= -j= r*
diff cmp colordiff delta | -U= -C= -I= -x= --exclude= -W= r*
wc du stat file md5sum sha1sum sha256sum sha512sum shasum cksum b2sum md5 realpath readlink tree ls ll exa eza lsd dir
  get-childitem gci | -d= -L= -I= -c= -f= --exclude= --format= --printf= --block-size= --max-depth= --level= -a: l*
grep egrep fgrep zgrep rg ag ack ugrep pcregrep ripgrep select-string sls | -e=G -f=G -A= -B= -C= -m= -d= -g= -t= -T=
  --glob= --iglob= --type= --include= --exclude= --exclude-dir= --color= --regexp=G --max-count= --context= --sort=
  --colors= --engine= --max-depth= -j= --after-context= --before-context= -q:l -c:l -l:l -L:l --quiet:l --silent:l
  --count:l --files-with-matches:l --files-without-match:l --files:l g? r*
sed gsed | -e=G -f=f --expression=G -l= -i:w --in-place:w g? r*
awk gawk mawk nawk | -F= -v= -f=f c r*
jq gojq yq fx dasel | --arg=+ --argjson=+ --slurpfile=+ --rawfile=+ -f=G --from-file=G --indent= -L= -i:w --in-place:w
  g? r*
sd ast-grep sg | -p= -r= -l= -U: g g w*
perl | -e=c -E=c -ne=c -pe=c -lne=c -ane=c -le=c -we=c -pi= -i:w -M= -I= f? r*
ruby | -e=c -ne=c -I= -r= f? r*
python python2 pypy py ipython | -c=c -m=P -W= -X= f -*
node nodejs deno bun tsx ts-node | -e=c --eval=c -p=c -pe=c --print=c -r= --require= --env-file=u --import= --loader= f
  -* | run x | publish publish
php | -r=c -d= -c= f -*
lua rscript osascript emacs | -e=c --eval=c -l= f? -*
vim vi nvim ex nano pico emacsclient code cursor subl | -c=v --cmd=v -u= -S=f -o: r*
tee sponge | w*
cp gcp copy xcopy copy-item ditto robocopy | -t=t --target-directory=t -S= --suffix= r* w
install | -t=t -m= -o= -g= --mode= --owner= --group= -d: r* w
mv gmv move move-item mi rename-item ren | -t=t --target-directory=t -S= o* w
ln | -t=t -S= a* w
rsync | -e=s --rsh=s --rsync-path=s --exclude= --include= --filter= --exclude-from=r --files-from=r --password-file=u
  -f= --bwlimit= --chmod= --chown= --port= --timeout= --max-size= --out-format= --log-file=w --backup-dir=w r* w
scp sftp | -i=u -F=u -P= -o= -l= -c= -S=s -J= r* w
dd | if=r of=w bs= count= -*
truncate | -s= --size= -r= --reference= w*
touch mkdir mkfifo | -m= -d= -t= -r= --mode= n*
rm unlink srm trash trash-put gio rimraf del-cli rd rmdir del erase deltree remove-item ri | d*
shred | -n= -s= --iterations= --size= d*
split csplit | -b= -l= -n= -a= --bytes= --lines= r -
chmod chown chgrp chattr setfacl icacls takeown | --reference= -m= -x= g m*
tar gtar bsdtar | -f=u --file=u -C=D --directory=D --exclude= -X=r --exclude-from=r -T=r --files-from=r -I=s
  --use-compress-program=s --to-command=s --checkpoint-action=s --strip-components= --transform= --one-top-level=w
  --owner= --group= --mtime= --newer= r*
zip 7z 7za 7zz | -x=X -i= -TT=s -P= -p= w r*
unzip bsdunzip unrar | -d=t -x=X -P= u -*
gzip gunzip bzip2 bunzip2 xz unxz zstd pigz | -S= -T= -o=w -c:r -k:r o*
find fd fdfind | -*
xargs parallel | -I=I -J=I -n= -P= -L= -d= -a=A -E= -s= -j= --max-args= --max-procs= --max-lines=
  --delimiter= --arg-file=A --results= -0: x
echo printf : true false exit return break continue shift let expr seq sleep wait jobs disown bg fg logger say
  notify-send tput clear man help info tldr whatis apropos which whereis type command-v basename dirname test [ [[ ((
  case wall umask ulimit getopts date cal uptime uname hostname whoami id groups ps top htop free df lsof ss netstat
  lsblk nproc arch locale env-var mktemp | g*
cd chdir set-location popd dirs | g*
pushd | g*
source . | u g*
printenv | | secret.show *secret_access_key,*private_key,*signing_key,*encryption_key
eval | S
exec nice nohup time setsid ionice chrt taskset stdbuf builtin busybox toybox unshare pkexec caffeinate rlwrap unbuffer
  winpty noglob nocorrect strace ltrace nsenter systemd-run torsocks proxychains proxychains4 sshpass entr xvfb-run
  chronic ts dotenv env-cmd coproc firejail | -a= -n= -c= -p= -o= -e= -f= -i= -s= -t= -u= -w= -E= --adjustment=
  --format= --output= x
command | -v:N -V:N x
sudo doas run0 | -u= -g= -h= -p= -C= -r= -t= -T= -U= -D=D --user= --group= --chdir=D --host= --prompt= = x
env | -u= --unset= -P= -C=D --chdir=D -S=S --split-string=S = x
timeout gtimeout chroot gosu su-exec setarch | -s= -k= --signal= --kill-after= --userspec= - x
flock | -w= --timeout= -E= -c=s - x
su runuser | -c=s --command=s --session-command=s -s= -u= --user= -l: - x
script | -c=s --command=s w
nix-shell | --run=s --command=s -p= -*
watch | -n= --interval= S
hyperfine concurrently run-p run-s npm-run-all watchexec | -p=s --prepare=s -c=s --cleanup=s -w= -r= -n= --export-json=w
  s*
nodemon | -x=s --exec=s -w= -e= f -*
ssh | -i=u -p= -l= -o=O -F=u -L= -R= -D= -J= -b= -c= -E= -m= -S= -W= -w= -B= -e= -I= -Q= -O= - S@
cmd | /c=S /C=S /k=S /K=S g*
powershell pwsh | -c=S -command=S -Command=S -C=S -File=f -f=f -ExecutionPolicy= -ep= 1dash g*
bash sh zsh dash ksh ash fish rbash mksh csh tcsh | -c=s -o= -O= --rcfile= --init-file= F
npx bunx uvx pnpx pipx corepack | -p= --package= -c=s --call=s --from=- --with= --python= x | run run -
poetry pipenv hatch pdm rye | -C=D --directory=D -P= --project= | run run | publish publish | secret.show config +--list
uv | --with= --from= -p= --python= --project=D --directory=D --extra= --group= --env-file=u --index-url= | run run | run
  tool run | publish publish
bundle | | run exec
rbenv pyenv asdf mise devbox volta fnm lerna doppler aws-vault direnv conda mamba micromamba op | -n= -p= --name=
  --prefix= --cwd=D --env-file=u --project= --config= -d= --duration= --scope= --vault= --account= --node= --npm=
  --using= | run run,exec,x | cloud.delete vault,item,document,user,group,secrets,projects,configs,environments delete |
  secret.show read,inject | secret.show item,document get | secret.show secrets !set,upload,names | publish publish
npm pnpm yarn | -C=D --prefix=D --dir=D --filter= -F= --workspace= -w= --registry= --tag= --access= -p= --package= -c=s
  | run exec,x,dlx | publish publish,unpublish,deprecate | publish npm publish | publish
  dist-tag,owner,access,team,token,hook,org add,rm,remove,grant,revoke,set,create | secret.show token list
cargo | --manifest-path= -p= --package= --features= --target= --bin= --example= -j= --config= | publish publish,yank |
  publish owner +--add,--remove,-a,-r
twine maturin | -r= -u= -p= | publish upload,publish
gem vsce ovsx luarocks jsr flit nuget hex changeset lerna-lite | -k= --key= --host= -p= | publish
  push,publish,unpublish,yank,upload,delete
semantic-release release-it np | | publish !--no-publish
mvn mvnw | -f= -pl= -P= -s=u | publish deploy*,release:perform
gradle gradlew | -p=D -b= -P= | publish publish*,uploadArchives,closeAndRelease*
dotnet | -c= --project= -o=w | db.destroy ef database drop | publish nuget push,delete
pod | | publish trunk push,delete,deprecate
dart flutter | | publish pub,packages publish,lish
goreleaser | | publish release !--snapshot,--skip=publish
mix | | db.destroy ecto.drop,ecto.reset | publish hex.publish
pip pip3 | -r=u -c=u -i= --index-url= -e= -t=t --target=t -*
docker podman nerdctl finch | -H= --host= --context= -c= --config= -v=B --volume=B --mount=B -e= --env= -p= --publish=
  -w= --workdir= -u= --user= --name= --network= --net= --platform= --entrypoint=x --env-file=u -l= --label= -m=
  --memory= --cpus= -h= --hostname= --ip= --link= --restart= --gpus= --shm-size= --tmpfs= --ulimit= --add-host=
  --cap-add= --cap-drop= --device= --dns= --expose= --pull= --file=u --project-name= --profile= --project-directory=D
  --runtime= --security-opt= --volumes-from= --userns= --pid= --ipc= --tag= --build-arg= --target= --secret=u --filter=
  --format= --log-driver= --index= --scale= --timeout= --stop-signal= e* | in run,exec - | in container run,exec - | in
  compose run,exec - | docker.prune system,volume prune,reset | docker.prune image,container,network,builder,buildx
  prune | docker.prune volume rm,remove | docker.prune compose down +-v,--volumes,--rmi | docker.prune compose rm
  +-v,--volumes | docker.prune swarm leave | docker.prune stack,service,secret,config,context rm,remove | secret.show
  compose config !--services,-q,--quiet | docker.prune rm,rmi +-f,--force ?? | docker.prune container,image rm
  +-f,--force ?? | publish push | docker.prune kill,stop ??
docker-compose podman-compose | -f=u --file=u -p= --project-name= --env-file=u -e= -u= -w= | in run,exec - |
  docker.prune down +-v,--volumes,--rmi | docker.prune rm +-v | secret.show config !--services,-q,--quiet
crictl ctr nerdctl-compose | -n= --namespace= -a= | docker.prune rm,rmi,rmp | docker.prune
  images,containers,i,c,snapshots,ns @,rm
kubectl oc k kubecolor microk8s | -n= --namespace= --context= --kubeconfig=u --cluster= --user= -f=u --filename=u -l=
  --selector= -o= --output= -c= --container= -s= --server= --token= --as= --field-selector= -k=u --kustomize=u
  --from-file=r --from-literal= --from-env-file=u --replicas= --image= --type= -p= --patch= --timeout= e* | in
  exec,run,debug -- | kube.delete delete,drain,cordon,evict,taint !can-i,explain | kube.delete replace +--force |
  kube.delete scale +--replicas=0 | kube.delete rollout undo | kube.delete apply +--prune | kube.delete adm @,prune |
  secret.show get secret,secrets,secret/* +-o,--output
  !name,wide,jsonpath={.metadata.name},jsonpath={.items[*].metadata.name},jsonpath={.type} | secret.show config view
  +--raw | secret.show create token
helm | -n= --namespace= --kube-context= -f=u --values=u --set= --version= --kubeconfig=u | kube.delete
  uninstall,delete,un,del,rollback | publish push | secret.show get values,all
velero argocd flux istioctl linkerd eksctl kops kind k3d minikube ctlptl k0s kubeadm kustomize tkn skaffold tilt rancher
  | -n= --namespace= --name= --context= --kubeconfig=u -f=u --cluster= --region= | kube.delete
  @,uninstall,reset,down,rollback
terraform tofu terragrunt | 1dash -chdir=D -var= -var-file=u -target= -state=u -out=w -backend-config=
  --terragrunt-working-dir=D | infra.destroy destroy | infra.destroy run-all,run destroy | infra.destroy stack,run --
  destroy | infra.destroy apply +-destroy,--destroy,-auto-approve,--auto-approve | infra.destroy state
  rm,push,replace-provider | infra.destroy workspace delete | infra.destroy taint,force-unlock | infra.destroy
  login,logout | secret.show state pull
pulumi | -s= --stack= -C=D --cwd=D | infra.destroy destroy,down,dn | infra.destroy stack rm | infra.destroy state delete
  | infra.destroy up +--yes,-y,--skip-preview | secret.show config,stack +--show-secrets
cdk cdktf sls serverless sst sam copilot amplify eb chalice zappa vagrant multipass virsh lxc incus qm pct vboxmanage
  prlctl packer nomad juju chef knife puppet salt salt-key | -s= --stage= -r= --region= --profile= -a= --app= --name=
  --stack-name= -c= -E= -y: | infra.destroy @,remove,rm,undefine,unregistervm,clean !list,show,status | infra.destroy
  build +-force,--force | infra.destroy job stop | infra.destroy +-D,--delete,--delete-all
ansible ansible-playbook | -i=u -m= -a=s --args=s -e= -l= --limit= -u= --vault-password-file=u -t= --tags= -f= g* |
  infra.destroy @
ansible-vault sops age gpg2 gpg rage | -o=w --output=w -r= -i=u --identity=u -u= --recipient= --vault-password-file=u u*
  | secret.show view,decrypt !--encrypt-string | secret.show +-d,--decrypt !-o,--output,-i,--in-place | path.secret
  +--export-secret-keys,--export-secret-key,--export-secret-subkeys | system.users +--delete-secret-keys,--delete-keys
aws awslocal | --profile= --region= --output= --query= --endpoint-url= --color= --cli-input-json=r --no-cli-pager:
  --bucket= --key= --name= --exclude= --include= --body=r e* | cloud.delete s3 rb | cloud.delete s3 rm +--recursive |
  cloud.delete s3 sync,mv +--delete,--recursive | secret.show configure get,export-credentials | secret.show
  secretsmanager get-secret-value,batch-get-secret-value | secret.show ssm
  get-parameter,get-parameters,get-parameters-by-path +--with-decryption | secret.show ecr get-login* | secret.show sts
  get-session-token,assume-role,get-federation-token | secret.show iam create-access-key | cloud.delete *
  put-bucket-*,put-public-access-block,modify-db-*,put-secret-value,update-secret,unsubscribe,stop-* | cloud.delete *
  update-table,put-user-policy,attach-*-policy,authorize-*,put-role-policy,put-key-policy,leave-*,close-* | cloud.delete
  * schedule-key-deletion,release-*,detach-*,batch-delete-*,rollback-*,failover-*,reboot-*,restore-* | cloud.delete *
  @,remove-*
gcloud | --project= --zone= --region= --account= --format= --filter= --instance= --quiet: -q: --location=
  --configuration= --ssh-key-file=u --key-file=u --cred-file=u --env-vars-file=u e* | cloud.delete @,rm | secret.show
  auth print-* | secret.show auth application-default print-* | secret.show secrets versions access | cloud.delete
  storage rsync +--delete-unmatched-destination-objects | cloud.delete compute,sql instances stop,suspend,reset |
  cloud.delete compute instances,disks stop,suspend,reset | cloud.delete projects,organizations set-iam-policy |
  cloud.delete app versions stop
gsutil | -h= -o= -m: -u= e* | cloud.delete rm,rb,del | cloud.delete rsync +-d | cloud.delete mv
bq | --project_id= --dataset_id= --format= -r: -f: | cloud.delete rm,remove | sql query
az | --subscription= -g= --resource-group= -n= --name= -o= --output= --query= -l= --location= -f=e --file=e -s=e
  --source=e --private-key-file=u e* | cloud.delete @,deallocate,stop | secret.show account get-access-token |
  secret.show keyvault secret show,download,backup | secret.show * keys,keys-list list | secret.show *
  list-keys,list-credentials
azcopy s3cmd mc s5cmd rclone b2 | -r: --recursive: -n: --config=u --endpoint-url= e* | cloud.delete
  rm,remove,del,rb,purge,delete,deletefile,cleanup,rmdir,rmdirs,expire,undo,delete-* !-n | cloud.delete sync,mirror
  +--delete-destination,--delete,--remove,--delete-removed !-n | cloud.delete sync,move,bisync
  !-n,--delete-destination=false ~rclone | secret.show config show,dump
heroku | -a= --app= -r= --remote= -s= | in run | cloud.delete
  *:destroy,*:delete,*:remove,*:reset,*:kill,*:rollback,*:copy,*:unset | cloud.delete
  ps:scale,maintenance:on,releases:rollback,git:clone | secret.show config,config:get
doctl hcloud linode-cli linode scw oci ibmcloud yc aliyun vultr-cli vultr exo civo upctl ovh fly flyctl railway render
  vercel now netlify surge wrangler supabase firebase planetscale pscale neonctl neon turso upstash convex appwrite expo
  eas shopify cf nsc auth0 okta stripe twilio sendgrid ldcli launchdarkly unleash flagsmith sentry-cli datadog-ci
  newrelic pagerduty pd opsgenie circleci buildkite-agent bk drone gitlab-runner jenkins-cli jenkins jfrog jf
  artifactory databricks dbx astro airflow dbt mlflow dvc confluent ccloud nats rabbitmqadmin rabbitmqctl pulsar-admin
  redpanda rpk consul etcdctl influx elasticdump cloudflared flarectl tailscale ngrok dnscontrol kong deck apigee
  apigeecli temporal prefect dagster algolia meilisearch typesense elastic fastly akamai cli53 mailgun postmark
  contentful sanity strapi hasura snapper vssadmin wbadmin tmutil boundary waypoint teleport tsh tctl oras skopeo crane
  harbor regctl | -n= -p= -f= -a= -c= -e= -o= -t= --app= --config= --token= --scope= --project= --cwd=D --env= --name=
  --namespace= --namespace-id= --database-id= --project-ref= --region= --zone= --profile= --bucket= --space-id=
  --bootstrap-server= --flag= --environment= --output= --format= --org= --context= --compartment-id= | cloud.delete
  @,rm,remove,remove-*,unset,unlink,down,rollback,*:remove,*:unset,unregister,leave,logout,gc,clear,clear_*,close_all_*,deletelocalsnapshots,stop_app,permanent-*,forget_*,force_reset,shutdown,poweroff,power-off,rebuild
  !get,list,create,put,show,describe,--local | cloud.delete +--delete,--delete-all | cloud.delete db
  push,reset,clean,downgrade +--include-all,--linked,--force,--yes,-y | db.destroy migrate,database,metadata
  drop,reset,clear | secret.show env pull,get | secret.show variables | publish publish,submit | sql d1 execute | sql db
  shell,execute
kafka-topics kafka-topics.sh kafka-consumer-groups kafka-consumer-groups.sh kafka-acls kafka-configs
  kafka-delete-records kafka-acls.sh kafka-configs.sh kafka-delete-records.sh kafka-streams-application-reset
  zookeeper-shell | --bootstrap-server= --topic= --group= --entity-name= | cloud.delete
  +--delete,--remove,--delete-config,--reset-offsets,--offset-json-file | cloud.delete * deleteall,rmr,delete
vault bao | 1dash -address= -namespace= -format= -field= | cloud.delete delete,destroy | cloud.delete kv delete,destroy
  | cloud.delete kv metadata delete | cloud.delete secrets,auth,audit disable,move | cloud.delete
  policy,namespace,plugin delete,deregister | cloud.delete token,lease revoke | cloud.delete operator
  seal,step-down,rekey,rotate,raft,generate-root | secret.show read,unwrap | secret.show kv get | secret.show token
  create,lookup
restic borg borgmatic duplicity rdiff-backup kopia bup rsnapshot | -r= --repo= -p= -n: --tag= --host= --path=
  --keep-last= --keep-daily= --keep-weekly= --keep-monthly= --keep-yearly= --keep-within= | backup.delete
  forget,prune,delete,repo-delete,rdelete,compact,purge,expire,break-lock,unlock,recreate !-n | backup.delete
  remove-*,cleanup +--force | backup.delete repository,snapshot,policy delete,remove,disconnect | backup.delete key
  remove,delete,change-* | backup.delete +--remove-older-than
gh hub | -R= --repo= -t= --title= -b= --body= -F=e --body-file=e -l= --label= --jq= -q= --template= -X=M --method=M -f=
  -H= --hostname= --input=e --notes-file=e -S= --search= --field=e --raw-field= e* | git.force-push api +force=true |
  repo.delete api +DELETE,delete | repo.delete api */protection,*/required_status_checks,*/required_pull_request_reviews
  +PUT,PATCH | repo.delete repo delete,archive,rename,edit,sync !--description,--homepage,--add-topic | repo.delete
  release,secret,variable,cache,label,gist,run,workflow,ssh-key,gpg-key,issue,codespace,ruleset,org
  delete,remove,disable,lock,transfer | repo.delete pr merge +--admin | repo.delete pr close +--delete-branch,-d |
  repo.delete auth logout,refresh | secret.show auth token | secret.show auth status +--show-token,-t | publish release
  create,upload,edit | repo.delete secret,variable set
glab tea | -R= --repo= -t= -d= -b= -F=e e* | repo.delete
  repo,project,release,variable,issue,mr,label,ssh-key,runner,schedule delete,archive,transfer | secret.show variable
  get,export | publish release create,upload
psql mysql mariadb sqlite3 sqlite duckdb clickhouse-client clickhouse sqlcmd cockroach snowsql mycli pgcli usql sqlplus
  hive beeline presto trino impala-shell cqlsh osql isql tsql litecli mssql-cli spanner-cli mongo mongosh psql.exe |
  -c=q -e=q -q=q -Q=q --command=q --execute=q --query=q --eval=q -f=u --file=u -h= -p= -U= -u= -d= -P= -D= --host=
  --port= --user= --username= --dbname= --database= -s: -v= -F= q*
redis-cli valkey-cli keydb-cli | -h= -p= -a= -n= -u= --user= --pass= | db.destroy flushall,flushdb,shutdown,swapdb |
  db.destroy config set,rewrite | db.destroy script,function flush | db.destroy debug,failover,cluster
  reset,segfault,failover | db.destroy del,unlink ?? | db.destroy cluster reset,forget,flushslots
dropdb dropuser pg_dropcluster mysqladmin mariadb-admin pg_resetwal | -h= -p= -U= -u= | db.destroy * !test
  ~dropdb,dropuser,pg_dropcluster,pg_resetwal | db.destroy drop,flush-*,shutdown
pg_restore mongorestore pg_basebackup mysqlimport pgloader createdb | -d= -h= -U= -p= -D=t --dbname= | db.destroy
  +-c,--clean,--drop,--delete
prisma drizzle-kit sequelize sequelize-cli typeorm knex alembic flyway liquibase doctrine console artisan manage.py
  rails rake goose migrate dbmate sqlx diesel atlas node-pg-migrate umzug django-admin flask | -c= -d= -e= --env=
  --schema= --url= --database= -p= -path= --settings= | db.destroy migrate reset,zero,down,rollback !-n | db.destroy db
  push +--force-reset,--accept-data-loss | db.destroy
  drop,clean,drop-all,dropall,flush,reset_db,sqlflush,down,reset,truncate | db.destroy downgrade base | db.destroy
  db:drop*,db:reset,db:purge,db:schema:load,db:migrate:reset,db:truncate_all,db:migrate:undo:all,db:wipe | db.destroy
  migrate:fresh,migrate:reset,migrate:refresh,schema:drop,*:database:drop,*:schema:drop,queue:clear | db.destroy
  migrate:rollback +--all | db.destroy database,schema,db drop,reset,clean | db.destroy migrate * zero
fdisk sfdisk cfdisk sgdisk gdisk parted | -u= -o= | disk.manage !-l,--list,print,-v,--verify
mkfs mke2fs mkswap newfs blkdiscard | -t= -L= -O= -b= | disk.overwrite /dev/* !-n
wipefs badblocks | -t= -o= -b= | disk.overwrite /dev/* +-a,--all,-w !-n,--no-act
format | | disk.overwrite *:
diskutil | | disk.manage erase*,partition*,zerodisk,randomdisk,secureerase,reformat,unmountdisk | disk.manage apfs
  delete*,erase*,resize*
lvremove vgremove pvremove lvreduce resize2fs tune2fs e2fsck fsck xfs_repair format-volume clear-disk initialize-disk
  remove-partition | | disk.manage !-n,-t,--test,-l
zpool zfs btrfs cryptsetup mdadm hdparm nvme blockdev swapoff umount dmsetup losetup mount | -t= -o= -F: | disk.manage
  destroy,labelclear,remove,rollback,subvolume,luks*,erase,format,sanitize
  !list,show,create,snapshot,-n,-nv,luksDump,luksOpen | disk.manage subvolume delete | disk.manage receive,recv +-F |
  disk.manage
  +--stop,--zero-superblock,--remove,--security-erase,--trim-sector-ranges,--setro,--flushbufs,--all,-a,-l,--bind !-n
shutdown poweroff halt reboot stop-computer restart-computer | | system.power !-c,-whatif
init telinit | | system.power 0,6,1,s
systemctl | -t= -p= -M= -H= --user: | system.power poweroff,reboot,halt,kexec,suspend,hibernate,rescue,emergency,isolate
  | system.services stop,disable,mask,kill,set-default !--user
service | | system.services * stop
launchctl | | system.services unload,bootout,remove,disable
iptables ip6tables nft ufw firewall-cmd auditctl pfctl | -t= -A= -I= | system.services
  +-F,-X,-P,-D,--flush,--policy,--panic-on,--remove-service,--remove-port,-d,-e | system.services
  flush,delete,disable,reset
ip | | system.services link set !up | system.services route,addr,address,netns del,flush,delete
ifconfig route nmcli setenforce sysctl modprobe rmmod insmod nginx apachectl supervisorctl haproxyctl | -p= |
  system.services * down | system.services del,delete,flush,0,permissive,stop | system.services
  networking,radio,connection off,delete | system.services +-w,--write,-r | system.services * ~rmmod,insmod
kill | -s= -n= | system.kill-all -9,-15 -1,1 | system.kill-all -1,1 +-KILL,-TERM,-SIGKILL,-SIGTERM,-s,--
pkill killall killall5 | -u= -s= | system.kill-all .,.* | system.kill-all -9 .,.* | system.kill-all ~killall5
crontab | -u= -l:N | system.schedule +-r | system.schedule * !-l,-e
at batch atrm schtasks | -f=f | system.schedule * ~atrm | system.schedule +/delete
userdel deluser groupdel delgroup useradd adduser chpasswd visudo vipw | | system.users !-c,--check
usermod passwd gpasswd chage | | system.users !-S,--status,-l
dscl net | | system.users * -delete,-create,-append,-passwd | system.users user,localgroup +/delete,/add
apt apt-get aptitude | -t= -o= -s: | system.packages remove,purge,autoremove,full-upgrade,dist-upgrade !-s,--simulate
dpkg rpm pacman | -i: | system.packages +-P,--purge,-r,--remove,--force-all,-e,--erase,-R,-Rns,-Rs,-Rdd,-Rsc,-Rn,-Rscn
  !--test,-p,--print
yum dnf zypper apk snap flatpak | | system.packages remove,erase,autoremove,rm,del,uninstall,distro-sync !--assumeno,-s
brew | | system.packages uninstall,remove,rm,autoremove +--force,--zap,--ignore-dependencies
mail mailx sendmail mutt msmtp swaks | -s= -a=r -A=r -c= -b= | mail.send *
curl | -o=w --output=w -D=w --dump-header=w -c=w --cookie-jar=w --trace=w --trace-ascii=w --output-dir=t --stderr=w -K=r
  --config=r -d=b --data=b --data-binary=b --data-raw= --data-urlencode=b --data-ascii=b -F=b --form=b --json=b -T=r
  --upload-file=r -H=b --header=b -b=u --cookie=u -u= --user= -A= --user-agent= -e= --referer= -X=M --request=M -w=
  --write-out= -m= --max-time= --retry= --retry-delay= --connect-timeout= -x= --proxy= --resolve= --connect-to= --key=u
  --cert=u -E=u --cacert=u --capath=u --pass= -r= --range= --url=h --limit-rate= -Y= -y= -C= -z= -Q= --retry-max-time=
  h*
wget aria2c | -O=w -o=w --output-document=w --output-file=w -P=t --directory-prefix=t -i=r --input-file=r --post-file=r
  --body-file=r --post-data=b --header=b -U= -e= -t= -T= --user= --password= --method=M -d=t h*
http https xh httpie iwr irm invoke-webrequest invoke-restmethod fetch lynx | -o=w --output=w -a= --auth= -Method=M
  -OutFile=w -Uri=h -Headers= -Body= h*
nc ncat netcat telnet socat | -p= -w= -s= -x= -i= -q= -e=- --exec=- --sh-exec=- -c=- h*
openssl | 1dash -in=r -inkey=r -out=w -keyout=w -CA=u -CAkey=u -key=u -cert=u -passin= -passout= -subj= -days= -newkey=
  -config=u g -*
ssh-keygen ssh-add ssh-copy-id ssh-keyscan keytool mkcert certbot signtool codesign jarsigner | -f=u -t= -b= -C= -N= -P=
  -i=u -keystore=u u*
security | -a= -s= -l= | path.secret find-generic-password,find-internet-password +-w,-g | path.secret
  dump-keychain,export | system.users delete-*
pass secret-tool bw lpass keyctl cmdkey vaultcmd gopass keepassxc-cli chamber envchain | | secret.show
  show,get,export,lookup,search,print,read,pipe,list,clip,find | cloud.delete rm,delete,clear,purge,remove
  ~pass,gopass,bw,lpass,secret-tool,chamber | secret.show * ~pass
  !ls,list,git,init,insert,generate,edit,help,version,otp
git | -C=D -c= --git-dir= --work-tree= --namespace= --exec-path= -m= --message= -F=u --file=u -b= -B= --orphan= -e=
  -o= --author= --push-option= --receive-pack= --repo= -s= --source= --date= --since= --until= --format= -L= --exclude=
  --branch= --depth= | git.force-push push +--mirror,--prune !-n | git.push-delete push +-d,--delete !-n |
  git.reset-hard reset +--hard,--merge | git.clean clean +-f,--force
  !-n,--dry-run,-i,--interactive,dist,build,node_modules,target | git.discard
  checkout,switch +-f,--force,--discard-changes | git.discard checkout-index +-f,--force !-n | git.discard read-tree
  +--reset | git.discard rm +-f,--force !--cached,-n | git.discard rm .,:/,./ !--cached,-n | git.discard submodule
  deinit +-f,--force | git.stash-drop stash drop,clear | git.branch-delete branch +-D | git.branch-delete branch
  +-d,--delete +-f,--force | git.rewrite branch +-f,--force | git.rewrite reflog expire,delete !-n | git.rewrite gc
  +--prune=now,--prune=all,--prune=0 | git.rewrite prune !-n | git.rewrite update-ref +-d,--stdin | git.rewrite
  update-ref refs/heads/* | git.rewrite filter-branch,filter-repo !--analyze | git.rewrite replace * * | git.rewrite
  replace +-d,--delete | git.rewrite rebase +--root | git.worktree worktree remove +-f,--force | secret.show credential
  fill,get | git.discard checkout,restore +--ours,--theirs . | path.git-hooks config
  core.hookspath,core.sshcommand,core.fsmonitor * !--get,--list,-l,--unset,.husky,.githooks,.husky/_,hooks,.git/hooks
bfg git-filter-repo | | git.rewrite *
make gmake just task rake-task | -C=D --directory=D -f=u --file=u --makefile=u -j= -l= --justfile=u -d=D -*
harness harness.py | --out=w --project= --scope= --since= --text= --enforce= | self.allow guard allow-once | self.decide
  upgrade | self.forget memory forget,sync +--yes | self.forget memory forget,sync ?? | self.forget memory prune,archive
  !--dry-run | self.forget memory note remove | self.other-memory memory import,export | self.other-memory memory sync
  init | self.other-memory memory +--project,--proj,--all-projects,--all-proj | self.other-memory memory backfill +--all
  | self.decide memory adopt,share,edit | self.decide memory team unshare | self.decide memory sync auto,purge-history |
  self.decide memory briefing rollback | self.decide memory review accept,edit,reject +--all | self.decide memory
  +off,--require,--after,--auto
install.py | | self.uninstall +--uninstall,--purge,--no-guard
claude | -p= --model= --settings= --permission-mode= | self.uninstall
  +--dangerously-skip-permissions,--allow-dangerously-skip-permissions | self.uninstall plugin disable,uninstall,remove
  harness* | self.uninstall +bypassPermissions,--permission-mode=bypassPermissions
export declare typeset local readonly set unset alias unalias shopt setopt read mapfile readarray trap hash | g*
tmux screen | -t= -s= -n= -c=D -S= -L= -x= -y= -F= s*
pytest ruff mypy black eslint prettier tsc jest vitest mocha go rustc rustup gcc cc clang g++ cmake ninja bazel java
  javac pm2 bd jj svn hg fossil nvm gdb lldb ffmpeg convert magick xcodebuild xcrun adb swift tox nox
  pre-commit ollama redis-server postgres minio ollama turbo nx vite next webpack | g*
set-content sc add-content ac out-file clear-content clc new-item ni tee-object | 1dash -path=w -filepath=w
  -literalpath=w -value= w -*
get-content gc | 1dash -path=r r*
open xdg-open pbcopy xclip xsel wl-copy mdfind gist croc wormhole magic-wormhole transfer uuencode cpio pax iconv
  dos2unix ccrypt | -o=w -t= r*
psexec wmic reg sc.exe bcdedit fsutil cipher | | disk.manage delete,shadowcopy,/deletevalue,usn,/w:* | disk.manage *
  delete
"""

# Words that a service obeys by destroying something; the second half means little to a program that we do not know.
SEVERE = frozenset(
    "delete destroy terminate purge wipe nuke erase deprovision decommission undeploy teardown truncate drop".split()
)
DESTROYS = SEVERE | frozenset("del deregister disable revoke reset flush uninstall undefine detach kill".split())
_EXCUSES = frozenset(
    "--help --dry-run --dryrun -dry-run --whatif -whatif --version --preview-only --generate-cli-skeleton".split()
)
_VERSIONED = frozenset("python pypy node ruby perl php pip lua clang gcc psql java ipython".split())
MAX_OPERANDS = 400

_index: dict[str, str] = {}
_rows: dict[str, Row | None] = {}


class Row:
    """One row, read."""

    def __init__(self, text: str) -> None:
        fields = [field.split() for field in text.split("|")]
        self.values: dict[str, str] = {}  # options that take one, with its kind
        self.changes: dict[str, str] = {}
        self.keyed: dict[str, str] = {}
        self.operands: list[str] = []
        self.effects = fields[2:]
        self.is_single = "1dash" in fields[1]
        for token in fields[1]:
            name, equals, kind = token.partition("=")
            if equals and name:
                (self.values if name[0] in "-/" else self.keyed)[name] = kind or "-"
            elif token[0] == "-" and ":" in token:
                self.changes[token.partition(":")[0]] = token.partition(":")[2]
            elif token != "1dash":
                self.operands.append(token)
        self.has_code = not {"c", "f", "f?"}.isdisjoint([*self.operands, *self.values.values()])
        # All that follows the operand at this place belongs to the command or script that it names.
        ends = [at for at, kind in enumerate(self.operands) if kind in ("x", "S", "S@", "f", "f?", "F")]
        self.end = ends[0] - self.operands.count("=") if ends else MAX_OPERANDS


class Arguments:
    """The arguments of one call, separated by its row."""

    def __init__(self) -> None:
        self.flags: list[str] = []
        self.values: list[tuple[str, str, str]] = []  # option, kind, value
        self.operands: list[str] = []
        self.places: list[int] = []  # of the operands, among the arguments
        self.unsure: set[int] = set()  # operands that may be the value of an option we do not know

    def value(self, kind: str) -> str:
        return next((value for _, each, value in self.values if each == kind), "")

    def has(self, flags: str) -> bool:
        return any(flag in self.flags for flag in flags.split(","))


def known_as(name: str) -> str:
    """The name of the row: `python3.12`, `nodejs.exe` and `mkfs.ext4` have one."""
    if not _index:
        for line in ROWS.replace("\n  ", " ").strip().split("\n"):
            _index.update(dict.fromkeys(line.partition("|")[0].split(), line))
    if name in _index:
        return name
    base = name.rstrip("0123456789.")
    if base in _VERSIONED or name.startswith("python"):
        return base if base in _index else "python"
    return "mkfs" if name.startswith("mkfs.") else name[1:] if name[:1] == "g" and name[1:] in _index else name


def row_of(name: str) -> Row | None:
    if name not in _rows:
        line = _index.get(known_as(name))
        _rows[name] = Row(line) if line else None
    return _rows[name]


def parsed(row: Row | None, args: list[str]) -> Arguments:
    found = Arguments()
    values, changes = (row.values, row.changes) if row else ({}, {})
    before, at = "", 0
    while at < len(args):
        arg = args[at]
        at += 1
        if arg == "--" or (row and len(found.operands) > row.end):
            start = at if arg == "--" else at - 1
            found.flags += [arg] if arg == "--" else []
            found.operands += args[start : start + MAX_OPERANDS]
            found.places += range(start, len(args))
            break
        if (arg[:1] != "-" or len(arg) == 1 or arg[1:2].isdigit()) and arg not in values and arg not in changes:
            if len(found.operands) < MAX_OPERANDS:
                if before and "=" not in before:
                    found.unsure.add(len(found.operands))
                found.operands.append(arg)
                found.places.append(at - 1)
            before = ""
            continue
        before, (name, equals, value) = arg, arg.partition("=")
        found.flags += [arg, name] if equals else [arg]
        if not equals and arg[1:2] != "-" and arg not in values and not (row and row.is_single):
            # `-xzf a.tgz`: letters up to the first one with a value, which is the rest or the next word
            letters = ["-" + letter for letter in arg[1:]]
            valued = next((place for place, letter in enumerate(letters) if letter in values), len(letters))
            found.flags += letters[: valued + 1]
            if valued == len(letters):
                continue
            name, value = letters[valued], arg[valued + 2 :]
            equals = value
        kind = values.get(name, "?")
        if kind == "S":
            value, at = " ".join([value, *args[at:]]), len(args)
        elif name in values and not equals:
            value = args[at] if at < len(args) else ""
            at += 2 if kind == "+" else 1
            while kind == "X" and at < len(args) and args[at][:1] != "-":  # everything up to the next option
                at += 1
        if name in values or equals:
            found.values.append((name, kind, value))
            before = ""
    return found


def accesses(row: Row, given: Arguments) -> Iterator[tuple[str, str]]:
    """(kind, word) of every argument, by the row."""
    changed = next((row.changes[flag] for flag in given.flags if flag in row.changes), "")
    taken = {"G": ("g?", "f?"), "c": ("f?",)}  # instead of that operand
    left_out = [each for _, kind, _ in given.values for each in taken.get(kind, ())]
    kinds = [each for each in row.operands if each not in left_out]
    if kinds == ["e*"] and any(command_at(given, effect) >= 0 for effect in row.effects):
        kinds = ["-*"]  # of that command, which is a call of its own
    yield from ((kind, value) for _, kind, value in given.values)
    words = [word for word in given.operands if word]
    star = next((at for at, each in enumerate(kinds) if each[-1:] == "*"), len(kinds))
    after = len(kinds) - star - 1
    for at, word in enumerate(words):
        key, equals, value = word.partition("=")
        if row.keyed:
            yield (row.keyed.get(key, "-"), value) if equals else ("-", word)
            continue
        place = min(at, star)
        if at >= star and len(words) - at <= after and len(words) > 1:
            place = len(kinds) - (len(words) - at)
        kind = kinds[min(place, len(kinds) - 1)].rstrip("?*") or "?" if kinds else "?"
        yield (changed if changed and kind in ("r", "w", "d", "o") else kind), word


def command_at(given: Arguments, effect: list[str]) -> int:
    """Where, among the operands, stands the command that this effect runs; -1 when it does not apply."""
    if effect[:1] not in (["run"], ["in"]):
        return -1
    at = _in_order([token for token in effect[1:] if token not in ("-", "--")], given)
    return at + effect.count("-") if at >= 0 else -1


def effect_of(name: str, row: Row, given: Arguments) -> str:
    """The rule of the first effect that applies to a call."""
    is_help = given.flags[-1:] == ["-h"] and "-h" not in row.values and len(row.effects) > 1
    if is_help or "help" in given.operands[:2] or not _EXCUSES.isdisjoint([flag.lower() for flag in given.flags]):
        return ""
    ours = [effect for effect in row.effects if effect[:1] not in ([], ["run"], ["in"])]
    return next((effect[0] for effect in ours if applies(name, effect, given)), "")


def applies(name: str, effect: list[str], given: Arguments) -> bool:
    verbs = []
    options = {*given.flags, *[value for _, _, value in given.values]}
    for token in effect[1:]:
        mark, words = token[0], set(token[1:].split(","))
        if mark not in "+!~?":
            verbs.append(token)
            continue
        is_met = not words.isdisjoint(options)
        if mark == "!":
            is_met = not is_met and words.isdisjoint(given.operands[:6])
        elif mark == "~":
            is_met = name in words
        elif mark == "?":
            is_met = any(UNKNOWN in word for word in given.operands)
        if not is_met:
            return False
    return _in_order(verbs, given) >= 0


def _in_order(verbs: list[str], given: Arguments) -> int:
    """The place after the verbs, which begin the operands; -1 where they do not."""
    at, words = 0, given.operands
    if verbs and "@" in verbs[0]:
        return next((place + 1 for place, word in enumerate(words[:4]) if _is_one(verbs[0], word)), -1)
    for verb in verbs:
        while at < len(words) and at in given.unsure and not _is_one(verb, words[at]):
            at += 1
        if at >= len(words) or not _is_one(verb, words[at]):
            return -1
        at += 1
    return at


def _is_one(alternatives: str, word: str) -> bool:
    lower = word.lower()
    for each in alternatives.lower().split(","):
        head, star, tail = each.partition("*")
        if each == lower or (star and lower.startswith(head) and lower.endswith(tail)):
            return True
        if each == "@" and _destroys(lower, DESTROYS):
            return True
    return False


def _destroys(word: str, words: frozenset[str]) -> bool:
    return not words.isdisjoint(word.replace("_", "-").replace(":", "-").replace(".", "-").split("-"))


def unknown_effect(word: str, args: list[str]) -> bool:
    """Whether a program without a row gets an order to destroy something: `acme buckets delete b`."""
    if "/" in word or "." in word or not _EXCUSES.isdisjoint(args):
        return False
    operands = [arg for arg in args[:8] if arg[:1] != "-"]
    return any(_destroys(each.lower(), SEVERE) and len(each) < 30 and "=" not in each for each in operands[:3])
