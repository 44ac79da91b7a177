"""What people type to an agent in a day, and what of it is a command.

A row is a sentence; behind ` => ` stands the command that it is or stands for, or, in brackets,
what it must be understood as.  Without that a sentence may be understood or not, but it is never a
command.
"""

SENTENCES = """
run the tests and fix what fails => [several]
Run the tests, then fix whatever is broken. => [several]
please run the tests => [test]
can you run the test suite again? => [test]
run all my unit tests for me => [test]
do the tests pass? => [test]
are all tests green => [test]
are the tests still passing? => [test]
hello, run the tests please => [test]
thanks! now fix it => [fix]
fix everything that fails => [fix]
fix all failing tests => [fix]
fix what's broken => [fix]
fix the errors => [fix]
run the linter => [task]
Run the linter, please! => [task]
run linter => [task]
lint the code => [task]
run the formatter => [task]
format the code => [task]
run the type checker => [task]
type check this project => [task]
build the project => [task]
run the build => [task]
start the server => [task]
run the dev server => [task]
run the app => [task]
run frobnicate => [not_a_command]
run my script => [not_a_command]
run deploy => [not_a_command]
execute order 66 => [not_a_command]
What's in config.json? => [contents]
What’s in config.json? => [contents]
whats in setup.cfg => [contents]
what is inside src/app.py? => [contents]
what's in the tests folder? => [contents]
where is the signature checked? => [about]
where do we validate the user's token? => [about]
which function parses the configuration file? => [about]
how are passwords hashed? => [about]
find where the retry delay is computed => [about]
find me the code that sends emails => [about]
explain this => [explain]
what does this do? => [explain]
tests and fix what fails
run away from here
run it again and tell me what happens
run whatever you think is best
run the migration and check that nothing breaks
run through the code and explain it to me
run a quick sanity check on the whole thing
execute the plan we discussed yesterday
make it faster
make the button blue
make sure the tests pass before you commit
make a new file called notes
make test coverage better
make the build green again
make docs nicer please
Make all of these functions async
go there
go ahead
go on
go to the definition of foo
go get some coffee
go test it yourself
go run around
node is what?
node crashes when I start it
python is slow
python 2.7 is too old for this
python main.py crashes with a KeyError
python, not ruby
git is confusing
git merge conflicts
git status shows nothing
git push fails with permission denied
git log does not show my commit, why?
git blame is not the answer
git add does nothing when I run it
git commit messages should be short
npm install fails with ERESOLVE
npm test takes forever
npm run build gives me a warning
npm is broken
npm install the dependencies for me
pip install hangs
pip says it cannot find the package
pytest fails on CI but not here
pytest is not installed
pytest - is it any good?
pytest hangs, what can I do?
docker run does not work on my machine
docker is not running
cargo build takes ages
cargo cult programming, isn't it?
make test fails on my machine
ruff check complains about imports
mypy complains about line 12
eslint errors everywhere
black is a nice colour
jest is no joke
ls is a command, right?
cat pictures please
cat got your tongue?
cat and dog
head over to main.py and look
tail of the log?
find me a good restaurant
find out why the build is slow
sort the list of users by name
sort of
cut the crap
touch base with the team
kill the process that hangs
kill it
sleep well
sleep on it
echo my words
less is more
which tests fail?
who wrote this?
time flies
time to run the tests
test it yourself
patch the leak
tree of life
file a bug
env is missing
zip it!
free as in beer
which python do you use?
diff between list and tuple?
watch out
just do it
just test
please
pleeease
could you have a look at the login page?
why is the sky blue?
why does add return None instead of 3?
what happens if I delete the cache folder
what should I do next?
can we drop support for 3.8?
is there a way to cache this?
does this scale to 10.000 users?
I think the bug is in calc.py, line 12
I want to rename everything
I don't understand
it doesn't work
it's broken...
nothing works anymore!!!
HELP
HELP ME!!!
WHY IS THIS SO SLOW
!!!
! important: read this first
!important
?!
...
:)
👍
$100 per month is too much
$5
costs $ 5 or so
$HOME is not set
#todo
@alice please review
- first do this
1. run the tests 2. fix them
(run the tests)
"run the tests"
'fix it'
rnu the tests
run teh tests
fx it
runthe tests
run tests/plz
pyhton main.py
gti status
sl
mkae test
add a --json flag to the report
use -v instead of --verbose everywhere
the -x option is missing
add error handling to load() and save()
rename foo to bar and update the docs accordingly
write a test for the parser
implement OAuth2 login; use the existing session store
TODO: clean up
see https://example.com/issues/12 for details
look at the bright side
look into why the build is slow
open the pod bay doors
undo the last three commits and push
remove all the print statements
delete everything
commit this
commit and push
push it to main
deploy to production
release version 2.0
install the dependencies
update the readme
bump the version to 1.2.3
check out the new branch
check this out
switch to the main branch and pull
start over
stop
stop it!
cancel
never mind
Führe die Tests aus
führe bitte die Tests aus und repariere alles
Was macht diese Funktion?
warum schlägt der Test fehl?
mach es schneller
lance les tests et corrige les erreurs
exécute les tests
pourquoi ça ne marche pas ?
ejecuta las pruebas
corre los tests y arregla lo que falla
por favor, arregla esto
¿qué hace este archivo?
esegui i test
rode os testes
запусти тесты
почини это
テストを実行して
修复失败的测试
运行测试
run 테스트
تشغيل الاختبارات
uruchom testy i napraw błędy
kör testerna
make çalışmıyor
python nedir
git nedir
node è lento
ls does what exactly?
is pwd a thing?
rm is dangerous
rm everything you do not need
mv things around a bit
curl is my favourite tool
the command git status prints nothing
I ran npm install and it printed 3 warnings
we use make, not cmake
run, Forrest, run!
running the tests takes 10 minutes
test: the agent should not run this
tests pass locally, fail in CI
git, npm and docker are installed
bash me
sh!
sh, be quiet
go figure
hatch a plan
poetry is lovely
swift action is needed
ruby red
perl before swine
composer of music
bundle it up
rake the leaves
$ git status => git status
$ git add . => git add .
$ tests and fix what fails => tests and fix what fails
! ls => ls
!ls -la => ls -la
git status => git status
git status. => git status
Git status => git status
git diff --stat => git diff --stat
git log --oneline -n 5 => git log --oneline -n 5
git checkout main => git checkout main
git commit -m "fix the tests" => git commit -m "fix the tests"
please run git status => git status
run git status please => git status
run `git status` => git status
run "npm test" => npm test
run 'some odd thing' => some odd thing
npm test => npm test
npm install => npm install
npm install express => npm install express
npm run build => npm run build
pip install -r requirements.txt => pip install -r requirements.txt
pytest -x => pytest -x
pytest -k total tests => pytest -k total tests
python -m pytest => python -m pytest
python3 main.py --fast => python3 main.py --fast
run report.py 1 2 6 => report.py 1 2 6
run the file report.py => report.py
execute the script deploy.sh => deploy.sh
run my python file report.py 1 2 => report.py 1 2
run file report.py => file report.py
run sleep 60 => sleep 60
run: sleep 60 => sleep 60
Run the command pwd => pwd
run echo one two three => echo one two three
run touch b.txt => touch b.txt
make test => make test
make clean => make clean
make -j4 all => make -j4 all
cargo test => cargo test
cargo build --release => cargo build --release
go test ./... => go test ./...
ruff check . => ruff check .
ls -la => ls -la
ls .. => ls ..
pwd => pwd
./run.sh now => ./run.sh now
grep -rn TODO src => grep -rn TODO src
find . -name '*.py' => find . -name '*.py'
docker ps => docker ps
docker compose up -d => docker compose up -d
git status && git diff => git status && git diff
FOO=1 pytest -x | tail -5 => FOO=1 pytest -x | tail -5
what changed? => git diff
"""

ROWS = [tuple(line.partition(" => ")[::2]) for line in SENTENCES.strip().split("\n")]
