// Prints what it sees of itself, each entry with its kind before it and a NUL behind it: A is an argument, E a
// variable of the environment, F a file in its folder.
#include <dirent.h>
#include <stdio.h>
#include <string.h>

static void print(char kind, const char *text) {
  putchar(kind);
  fputs(text, stdout);
  putchar(0);
}

int main(int argc, char **argv, char **env) {
  for (int i = 1; i < argc; i++) print('A', argv[i]);
  for (; *env; env++) print('E', *env);
  DIR *dir = opendir(".");
  if (!dir) return 1;
  for (struct dirent *e; (e = readdir(dir));)
    if (strcmp(e->d_name, ".") && strcmp(e->d_name, "..")) print('F', e->d_name);
  return fflush(stdout) ? 1 : 0;
}
