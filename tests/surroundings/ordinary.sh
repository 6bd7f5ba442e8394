# Nothing is odd: what every command comes to here.
rm -f "${ordinary:?}"/*
for command in predict scale train checkpoint prepare verify compare; do
    see_ordinary $command
done
